import type { Deployment } from '../../accounts/deployment.js';
import { openBefore } from './fixtures.js';
import type { Open, TestFramework } from './framework.js';

/** The guarantees of every `Deployment`. It must be opened with nothing recorded. */
export function deploymentSuite(framework: TestFramework, name: string, open: Open<'deployment'>): void {
  const { describe, it, expect } = framework;
  describe(`a deployment (${name})`, () => {
    let deployment: Deployment;
    openBefore(framework, open, (adapters) => {
      deployment = adapters.ports.deployment;
    });

    it('knows the portal as it was last recorded, and none before', async () => {
      expect(await deployment.portalUrl()).toBeUndefined();
      for (const url of ['http://localhost:3001', 'https://portal.example.com', 'https://portal.example.com']) {
        await deployment.recordPortalUrl(url);
        expect(await deployment.portalUrl()).toBe(url);
      }
    });
  });
}
