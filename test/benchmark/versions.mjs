import { createKey, startApi } from './services.mjs';
import { openStore } from './store.mjs';
import { inTurns, middles, ratio } from './turns.mjs';
import { ANIMALS, requestsOf } from './workloads.mjs';

/** Compares the API with another version of it, built in the folder `before`. Each has a database of its own. */
export async function measureVersions({ before }) {
  if (before === undefined) return console.log('needs --before FOLDER, where the other version is built');
  const [now, then] = [await open(), await open(before)];
  const figures = {};
  for (const workload of ['list 20', 'list 100', 'mixed lists', 'by id', 'POST', 'mix']) {
    const kinds = {
      now: { service: now.service, requests: await now.requests(workload) },
      before: { service: then.service, requests: await then.requests(workload) },
    };
    await inTurns(kinds, { connections: 32, windows: 1 });
    const results = await inTurns(kinds, { connections: 32 });
    figures[workload] = {
      before: middles(results.before),
      now: {
        ...middles(results.now),
        ...Object.fromEntries(
          ['rate', 'p99', 'cpu'].map((field) => [`${field} ratio`, ratio(results.now, results.before, field)]),
        ),
      },
    };
    console.log(workload);
    console.table(figures[workload]);
  }
  for (const { close } of [now, then]) await close();
  return figures;
}

async function open(from) {
  const store = await openStore({ bare: true });
  // The API brings the schema up to date.
  const service = await startApi(store.settings, undefined, from);
  await store.fill(ANIMALS);
  const keys = [createKey(store.env, from)];
  return {
    service,
    requests: (workload) => requestsOf(workload, service, keys),
    async close() {
      await service.stop();
      await store.close();
    },
  };
}
