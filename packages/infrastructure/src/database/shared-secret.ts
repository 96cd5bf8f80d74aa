import type { DataSource } from 'typeorm';
import { INSUFFICIENT_PRIVILEGE, sqlState } from './database-errors.js';
import { writeToDatabase } from './transactions.js';

/**
 * A secret that all processes on the database share. The first one creates it. To replace it, delete its row in
 * `secrets`.
 *
 * @throws Error with one sentence if the role may not write the table.
 */
export async function sharedSecret(dataSource: DataSource, name: string): Promise<string> {
  try {
    return await writeToDatabase(dataSource, async (manager) => {
      await manager.query('INSERT INTO secrets (name) VALUES ($1) ON CONFLICT DO NOTHING', [name]);
      // A statement of its own, which sees the row of another process. The services' role may update none.
      const text = 'SELECT value FROM secrets WHERE name = $1';
      const [{ value }] = await manager.query<[{ readonly value: string }]>(text, [name]);
      return value;
    });
  } catch (error) {
    if (sqlState(error) !== INSUFFICIENT_PRIVILEGE) throw error;
    const message = `The secret of the ${name} can't be stored in the database: this role may not write its table secrets.`;
    throw new Error(message, { cause: error });
  }
}
