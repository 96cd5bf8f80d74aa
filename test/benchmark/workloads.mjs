const { fetch } = globalThis;

/** Animals that the workloads expect. */
export const ANIMALS = 20_000;
const STATUSES = ['available', 'pending', 'sold'];
const BODY = '{"name":"Luna","categoryId":3}';

/** The names of the workloads. */
export const WORKLOADS = ['list of 20', 'list of 100 by status', 'later pages', 'by id', '?id=N', 'POST', 'mix'];

/**
 * The requests of each workload, of which one at random is sent each time.
 *
 * @param laterPages the paths of later pages of 20 by status.
 */
export function workloadsOf(laterPages) {
  const first = get('/v1/pets');
  const firstAvailable = get('/v1/pets?status=available');
  const laterPage = () => get(laterPages[Math.floor(Math.random() * laterPages.length)]);
  const anyId = () => 1 + Math.floor(Math.random() * ANIMALS);
  const byId = () => get(`/v1/pets/${anyId()}`);
  const post = { method: 'POST', path: '/v1/pets', body: BODY };
  return {
    'list of 20': [first],
    'list of 100 by status': [get('/v1/pets?status=available&limit=100')],
    'later pages': laterPages.map(get),
    'by id': many(1_000, byId),
    '?id=N': many(1_000, () => get(`/v1/pets?id=${anyId()}`)),
    POST: [post],
    mix: [
      ...many(700, () => first),
      ...many(400, () => firstAvailable),
      ...many(400, laterPage),
      ...many(400, byId),
      ...many(50, () => post),
      ...many(50, () => ({ ...post, isIdempotent: true })),
    ],
  };
}

/** Walks all pages of 20 by status at the API. Returns the paths of the later ones, at the API and at the expert's. */
export async function walkPages(origin, key) {
  const ours = [];
  const expert = [];
  for (const status of STATUSES) {
    let path = `/v1/pets?limit=20&status=${status}`;
    for (;;) {
      const response = await fetch(origin + path, { headers: { authorization: `Bearer ${key}` } });
      const last = (await response.json()).at(-1);
      const next = /<([^>]*)>; rel="next"/.exec(response.headers.get('link'))?.[1];
      if (next === undefined) break;
      path = next.slice(origin.length);
      ours.push(path);
      expert.push(`/v1/pets?limit=20&status=${status}&after=${last.id}`);
    }
  }
  return { ours, expert };
}

/** All requests and all keys, each request with one key: pairs of all with all would be a million. */
export function withKeys(requests, keys) {
  return many(Math.max(requests.length, keys.length), (_, index) => ({
    ...requests[index % requests.length],
    key: keys[index % keys.length],
  }));
}

function get(path) {
  return { method: 'GET', path };
}

function many(count, each) {
  return Array.from({ length: count }, each);
}
