import type { Deployment } from '../accounts/deployment.js';

export class InMemoryDeployment implements Deployment {
  private url: string | undefined;

  async portalUrl(): Promise<string | undefined> {
    return this.url;
  }

  async recordPortalUrl(url: string): Promise<void> {
    this.url = url;
  }
}
