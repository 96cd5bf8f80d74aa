import { ask } from '@adoption-store/test-support';

/**
 * One line for each table, column, constraint, index, function, trigger, policy and sequence, by name: the order of
 * columns and options is left out. NOT NULL is a property of its column: before version 18 it has no name. White space
 * in functions is left out, because it says nothing.
 */
const SCHEMA = String.raw`
  WITH relations AS (
    SELECT * FROM pg_class WHERE relnamespace = 'public'::regnamespace
  ), tables AS (
    SELECT * FROM relations WHERE relkind NOT IN ('i', 'S', 'c', 't')
  )
  SELECT concat_ws(' ', format('table %s:', relname), relkind, relpersistence,
    (SELECT string_agg(option, ', ' ORDER BY option) FROM unnest(reloptions) AS option),
    CASE WHEN relrowsecurity THEN 'ROW SECURITY' END, CASE WHEN relforcerowsecurity THEN 'FORCED' END) AS line
  FROM tables
  UNION ALL
  SELECT concat_ws(' ', format('column %s.%s:', relname, attname), format_type(atttypid, atttypmod),
    (SELECT format('COLLATE %I', collname) FROM pg_collation JOIN pg_type ON pg_type.oid = atttypid
      WHERE pg_collation.oid = attcollation AND attcollation <> typcollation),
    CASE WHEN attnotnull THEN 'NOT NULL' END, 'DEFAULT ' || pg_get_expr(adbin, adrelid),
    'IDENTITY ' || nullif(attidentity::text, ''), 'GENERATED ' || nullif(attgenerated::text, ''))
  FROM tables JOIN pg_attribute ON attrelid = tables.oid LEFT JOIN pg_attrdef ON (adrelid, adnum) = (attrelid, attnum)
  WHERE attnum > 0 AND NOT attisdropped
  UNION ALL
  SELECT format('constraint %s.%s: %s', relname, conname, pg_get_constraintdef(pg_constraint.oid))
  FROM tables JOIN pg_constraint ON conrelid = tables.oid WHERE contype <> 'n'
  UNION ALL
  SELECT concat_ws(' ', format('index %s.%s:', relname, indexrelid::regclass), pg_get_indexdef(indexrelid),
    CASE WHEN NOT indisvalid THEN 'INVALID' END)
  FROM tables JOIN pg_index ON indrelid = tables.oid
  UNION ALL
  SELECT format('function %s: %s', oid::regprocedure, regexp_replace(pg_get_functiondef(oid), '\s+', ' ', 'g'))
  FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND prokind IN ('f', 'p')
  UNION ALL
  SELECT format('trigger %s.%s: %s ENABLED %s', relname, tgname, pg_get_triggerdef(pg_trigger.oid), tgenabled)
  FROM tables JOIN pg_trigger ON tgrelid = tables.oid WHERE NOT tgisinternal
  UNION ALL
  SELECT format('policy %s.%s: %s FOR %s TO %s USING (%s) WITH CHECK (%s)', tablename, policyname, permissive, cmd,
    roles, qual, with_check)
  FROM pg_policies WHERE schemaname = 'public'
  UNION ALL
  SELECT concat_ws(' ', format('sequence %s:', relname), format_type(seqtypid, NULL), 'START', seqstart, 'INCREMENT',
    seqincrement, 'BETWEEN', seqmin, 'AND', seqmax, 'CACHE', seqcache, CASE WHEN seqcycle THEN 'CYCLE' END,
    (SELECT format('OWNED BY %s.%s', refobjid::regclass, attname)
      FROM pg_depend JOIN pg_attribute ON (attrelid, attnum) = (refobjid, refobjsubid)
      WHERE classid = 'pg_class'::regclass AND objid = relations.oid AND deptype IN ('a', 'i')))
  FROM relations JOIN pg_sequence ON seqrelid = relations.oid`;

/** The database's schema as sorted lines. */
export async function schemaOf(url: string): Promise<readonly string[]> {
  const lines = await ask<{ line: string }>(url, SCHEMA);
  return lines.map(({ line }) => line).sort();
}

/** All rows of a new database as sorted lines. No migration adds rows with random values or times. */
export async function firstRowsOf(url: string): Promise<readonly string[]> {
  const tables = await ask<{ name: string }>(
    url,
    `SELECT relname AS name FROM pg_class
    WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND relname <> 'migrations' ORDER BY name`,
  );
  const rows = await Promise.all(
    tables.map(({ name }) =>
      ask<{ line: string }>(url, `SELECT '${name}: ' || to_jsonb(stored)::text AS line FROM ${name} AS stored`),
    ),
  );
  return rows
    .flat()
    .map(({ line }) => line)
    .sort();
}
