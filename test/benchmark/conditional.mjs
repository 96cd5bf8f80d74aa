import { createKey, startApi } from './services.mjs';
import { openStore } from './store.mjs';
import { inTurns, middles, ratio } from './turns.mjs';
import { ANIMALS, withKeys, WORKLOADS } from './workloads.mjs';

const { fetch } = globalThis;

/** Compares reads whose client has the response already (304) with those that get it (200). */
export async function measureConditional() {
  const store = await openStore();
  await store.fill(ANIMALS);
  const keys = [createKey(store.env)];
  const service = await startApi(store.settings);
  const figures = {};
  for (const workload of ['list 20', 'list 100', 'by id']) {
    const whole = withKeys(WORKLOADS[workload].slice(0, 200), keys);
    const known = await Promise.all(whole.map((request) => withTag(service, request)));
    const kinds = { 200: { service, requests: whole }, 304: { service, requests: known } };
    await inTurns(kinds, { connections: 32, windows: 1 });
    const results = await inTurns(kinds, { connections: 32 });
    figures[workload] = {
      200: middles(results[200]),
      304: {
        ...middles(results[304]),
        ratio: ratio(results[304], results[200]),
        'cpu ratio': ratio(results[304], results[200], 'cpu'),
      },
    };
    console.log(workload);
    console.table(figures[workload]);
  }
  await service.stop();
  await store.close();
  return figures;
}

async function withTag({ origin }, request) {
  const headers = { authorization: `Bearer ${request.key}` };
  const response = await fetch(origin + request.path, { headers });
  await response.arrayBuffer();
  const known = { ...request, tag: response.headers.get('etag') };
  const { status } = await fetch(origin + request.path, { headers: { ...headers, 'if-none-match': known.tag } });
  if (status !== 304) throw new Error(`a request with the tag was ${status}`);
  return known;
}
