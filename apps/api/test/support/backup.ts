import { ask } from '@adoption-store/test-support';

const TABLES = `
  SELECT table_name AS name, string_agg(quote_ident(column_name), ', ') AS columns
  FROM information_schema.tables JOIN information_schema.columns USING (table_schema, table_name)
  WHERE table_schema = 'public' AND table_type = 'BASE TABLE' AND table_name <> 'migrations' AND is_generated = 'NEVER'
  GROUP BY table_name`;

/**
 * Copies all rows of a database that is in use, and returns a function that restores them. Ids aren't given again, as after
 * the statements in backup.md.
 */
export async function backUp(url: string): Promise<() => Promise<void>> {
  const tables = await ask<{ name: string; columns: string }>(url, TABLES);
  const copies = tables.map(({ name }) => `CREATE TABLE backup.${name} AS TABLE public.${name};`);
  await ask(
    url,
    `BEGIN ISOLATION LEVEL REPEATABLE READ;
    DROP SCHEMA IF EXISTS backup CASCADE; CREATE SCHEMA backup; ${copies.join('')}
    COMMIT`,
  );
  const rows = tables.map(
    ({ name, columns }) =>
      `INSERT INTO ${name} (${columns}) OVERRIDING SYSTEM VALUE SELECT ${columns} FROM backup.${name};`,
  );
  return async () => {
    await ask(
      url,
      `BEGIN; SET LOCAL session_replication_role = replica;
      TRUNCATE ${tables.map(({ name }) => name).join(', ')}; ${rows.join('')}
      COMMIT`,
    );
  };
}
