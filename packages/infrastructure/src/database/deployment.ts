import type { DataSource } from 'typeorm';
import { readFromDatabase } from './on-database.js';
import { writeToDatabase } from './transactions.js';

/**
 * Facts about the deployment that are stored in the database, so that an operator's commands need no setting for them.
 */
export class Deployment {
  constructor(private readonly dataSource: DataSource) {}

  /** Whether the portal mails links that prove addresses. */
  async provesAddresses(): Promise<boolean> {
    const text = 'SELECT proves_addresses AS "is" FROM deployment';
    const rows = await readFromDatabase(this.dataSource, () => this.dataSource.query<{ is: boolean }[]>(text));
    return rows.some(({ is }) => is);
  }

  async setProvesAddresses(is: boolean): Promise<void> {
    const text = 'UPDATE deployment SET proves_addresses = $1';
    await writeToDatabase(this.dataSource, (manager) => manager.query(text, [is]));
  }
}
