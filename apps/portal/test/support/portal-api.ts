import { afterAll, beforeAll } from '@jest/globals';
import { createApi } from '@adoption-store/api';
import type { VisitedPortal } from './portal-visitor.js';

/** Starts the API on the portal's database before a suite's first test. Most suites need none, so they don't load it. */
export function useApi(portal: VisitedPortal): { readonly origin: string } {
  const api = {} as { origin: string; close(): Promise<void> };
  beforeAll(async () => {
    const { application, clock } = portal;
    const app = await createApi({ application, clock, isReady: () => Promise.resolve(true) });
    await app.listen(0, '127.0.0.1');
    Object.assign(api, { origin: await app.getUrl(), close: () => app.close() });
  });
  afterAll(() => api.close());
  return api;
}
