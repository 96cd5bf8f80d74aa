/** Animals that the workloads expect. */
export const ANIMALS = 10_000;
const BODY = '{"name":"Luna","categoryId":3}';

const get = (path) => ({ method: 'GET', path });
const many = (count, each) => Array.from({ length: count }, each);

const list20 = () => get('/v1/pets');
const byId = () => get(`/v1/pets/${1 + Math.floor(Math.random() * ANIMALS)}`);
const post = () => ({ method: 'POST', path: '/v1/pets', body: BODY });

/** The requests of each workload, of which one at random is sent each time. */
export const WORKLOADS = {
  'list of 20': [list20()],
  'list of 100 by status': [get('/v1/pets?status=available&limit=100')],
  'by id': many(1_000, byId),
  POST: [post()],
  mix: [
    ...many(400, list20),
    ...many(200, () => get('/v1/pets?status=available&limit=50')),
    ...many(300, byId),
    ...many(100, post),
  ],
};

/** The same requests with each of the keys. */
export function withKeys(requests, keys) {
  return keys.flatMap((key) => requests.map((request) => ({ ...request, key })));
}
