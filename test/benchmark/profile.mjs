import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { load } from './load.mjs';
import { startApi, startWorker } from './services.mjs';
import { openAccounts, openStore } from './store.mjs';
import { ANIMALS, walkPages, withKeys, workloadsOf } from './workloads.mjs';

const DEFAULT = ['list of 20', 'later pages', 'by id', 'POST'];

/** Writes a profile of the API's processor time under each workload, which Chromium's DevTools and editors show. */
export async function writeProfiles({ workloads = DEFAULT, connections = [32], seconds }) {
  const folder = mkdtempSync(join(tmpdir(), 'adoption-store-profiles-'));
  const store = await openStore();
  await store.fill(ANIMALS);
  const keys = await openAccounts(store, 1);
  const worker = await startWorker(store.env, { isBeside: true });
  for (const workload of workloads) {
    const file = `${workload.replaceAll(' ', '-')}.cpuprofile`;
    const service = await startApi(store.settings, ['--cpu-prof', '--cpu-prof-dir', folder, '--cpu-prof-name', file]);
    const requests = withKeys(workloadsOf((await walkPages(service.origin, keys[0])).ours)[workload], keys);
    const { cpu } = await load(service, requests, { connections: connections[0], seconds: 3 * seconds });
    await service.stop();
    console.log(`${workload}: ${cpu.toFixed(1)} µs a request, ${join(folder, file)}`);
  }
  await worker.stop();
  await store.close();
}
