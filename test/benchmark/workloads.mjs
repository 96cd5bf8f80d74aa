import { URL } from 'node:url';

const { fetch } = globalThis;

/** The requests of each workload on that many animals, as many as needed to be distinguishable. */
export const ANIMALS = 10_000;
const BODY = '{"name":"Luna","categoryId":3}';

const get = (path) => ({ method: 'GET', path });
const anyAnimal = () => get(`/v1/pets/${1 + Math.floor(Math.random() * ANIMALS)}`);
const many = (count, each) => Array.from({ length: count }, each);

const list20 = () => get('/v1/pets');
const list100 = () => get('/v1/pets?status=available&limit=100');
const post = () => ({ method: 'POST', path: '/v1/pets', body: BODY });

export const WORKLOADS = {
  'list 20': [list20()],
  'list 100': [list100()],
  'by id': many(1_000, anyAnimal),
  POST: [post()],
  mix: [
    ...many(400, list20),
    ...many(200, () => get('/v1/pets?status=available&limit=50')),
    ...many(300, anyAnimal),
    ...many(100, post),
  ],
};

/** Twenty different lists: with and without a status, short and long, deep, and of given ids. */
export async function mixedLists(service, key) {
  const deep = await deepPages(service, key);
  const some = Array.from({ length: 10 }, (_, index) => `id=${index * 900 + 7}`);
  return [
    ...['', '?limit=1', '?limit=50', '?limit=100'],
    ...['available', 'pending', 'sold'].flatMap((status) => [`?status=${status}`, `?status=${status}&limit=100`]),
    ...[`?${some[0]}`, `?${some.slice(0, 3).join('&')}`, `?${some.join('&')}`, `?${some.join('&')}&limit=5`],
    ...Array.from({ length: 6 }, (_, index) =>
      deep[Math.floor((index * deep.length) / 6)].path.replace('/v1/pets', ''),
    ),
  ].map((query) => get(`/v1/pets${query}`));
}

/** The requests of any workload, `mixed lists` included, with each of the keys. */
export async function requestsOf(workload, service, keys) {
  const requests = workload === 'mixed lists' ? await mixedLists(service, keys[0]) : WORKLOADS[workload];
  return withKeys(requests, keys);
}

/** The same requests with a key each. */
export function withKeys(requests, keys) {
  return keys.flatMap((key) => requests.map((request) => ({ ...request, key })));
}

/** The deeper half of all pages of 100. A client gets each page's address from the `Link` of the previous one. */
export async function deepPages({ origin }, key) {
  const pages = [];
  for (let path = '/v1/pets?limit=100'; path !== undefined; path = pages.at(-1)?.path) {
    const response = await fetch(origin + path, { headers: { authorization: `Bearer ${key}` } });
    if (response.status !== 200) throw new Error(`a page was ${response.status}`);
    await response.arrayBuffer();
    const next = /<([^>]+)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1];
    if (next === undefined) break;
    const { pathname, search } = new URL(next);
    pages.push(get(pathname + search));
  }
  return pages.slice(pages.length / 2);
}
