import type { QueryRunner } from 'typeorm';

/** Addresses, and names of categories, become unique in NFC. Existing duplicates stay. */
export class CompareInNfc1700000078000 {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    // The builds wait for older transactions, but block nobody meanwhile.
    await runner.query('SET lock_timeout = 0');
    for (const { table, column } of [
      { table: 'accounts', column: 'email' },
      { table: 'categories', column: 'name_key' },
    ]) {
      const twins = (await runner.query(`
        SELECT id FROM ${table} AS twin
        WHERE ${column} IS NOT NFC NORMALIZED AND EXISTS (
          SELECT FROM ${table} AS other
          WHERE normalize(other.${column}, NFC) = normalize(twin.${column}, NFC) AND other.id <> twin.id
        )`)) as readonly { readonly id: string }[];
      const ids = twins.map(({ id }) => id).join();
      await runner.query(`DROP INDEX CONCURRENTLY IF EXISTS ${table}_by_nfc`);
      // For a duplicate, the index has its id as a second value, which makes it unique.
      await runner.query(`
        CREATE UNIQUE INDEX CONCURRENTLY ${table}_by_nfc ON ${table}
        (normalize(${column}, NFC), (CASE WHEN id = ANY ('{${ids}}'::bigint[]) THEN id::text ELSE '' END))`);
    }
    await runner.query('RESET lock_timeout');
  }
}
