import { openPgBouncer } from './pgbouncer.mjs';
import { createKey, startApi } from './services.mjs';
import { openStore } from './store.mjs';
import { inTurns, middles, ratio } from './turns.mjs';
import { ANIMALS, requestsOf } from './workloads.mjs';

/** Compares the API behind PgBouncer, which pools transactions, with the API that reaches PostgreSQL directly. */
export async function measurePooler() {
  const store = await openStore();
  await store.fill(ANIMALS);
  const pooler = await openPgBouncer(store);
  const behind = { DATABASE_URL: pooler.url, DATABASE_POOLER: 'transaction', DATABASE_DIRECT_URL: store.url };
  const services = {
    direct: await startApi(store.settings),
    pooled: await startApi({ ...store.settings, ...behind }),
  };
  const keys = [createKey(store.env)];
  const loads = {};
  for (const workload of ['list 20', 'mixed lists', 'by id', 'POST', 'mix']) {
    const requests = await requestsOf(workload, services.direct, keys);
    const kinds = Object.fromEntries(Object.entries(services).map(([name, service]) => [name, { service, requests }]));
    await inTurns(kinds, { connections: 32, windows: 1 });
    const { direct, pooled } = await inTurns(kinds, { connections: 32 });
    loads[workload] = {
      direct: middles(direct),
      pooled: { ...middles(pooled), ratio: ratio(pooled, direct), 'p99 ratio': ratio(pooled, direct, 'p99') },
    };
    console.log(workload);
    console.table(loads[workload]);
  }
  for (const { stop } of Object.values(services)) await stop();
  pooler.close();
  await store.close();
  return { pgbouncer: pooler.version, postgres: store.version, loads };
}
