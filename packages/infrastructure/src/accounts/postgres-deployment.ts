import type { Deployment } from '@adoption-store/domain';
import type { DataSource } from 'typeorm';
import { readFromDatabase } from '../database/on-database.js';
import { writeToDatabase } from '../database/transactions.js';

/** The table has one row. */
export class PostgresDeployment implements Deployment {
  constructor(private readonly dataSource: DataSource) {}

  async portalUrl(): Promise<string | undefined> {
    const text = 'SELECT portal_url AS url FROM deployment';
    const rows = await readFromDatabase(this.dataSource, () => this.dataSource.query<{ url: string | null }[]>(text));
    return rows[0]?.url ?? undefined;
  }

  async recordPortalUrl(url: string): Promise<void> {
    await writeToDatabase(this.dataSource, (manager) => manager.query('UPDATE deployment SET portal_url = $1', [url]));
  }
}
