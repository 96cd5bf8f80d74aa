import type { QueryRunner } from 'typeorm';

/** All that roles beside the owner may do with tables of which one wrong row stops every service, as in roles.sql. */
const LIMITED: Readonly<Record<string, string>> = {
  migrations: '{SELECT}',
  deployment: '{SELECT, UPDATE}',
  event_feed: '{SELECT, UPDATE}',
  secrets: '{SELECT, INSERT}',
};

const FIND_OTHERS = `
  SELECT format('REVOKE %s ON %s FROM %s', privilege_type, oid::regclass,
    CASE grantee WHEN 0 THEN 'PUBLIC' ELSE grantee::regrole::text END) AS statement
  FROM unnest($1::text[], $2::text[]) AS limited (name, allowed)
    JOIN pg_class ON oid = to_regclass(name), aclexplode(relacl)
  WHERE grantee <> relowner AND pg_has_role(relowner, 'USAGE') AND privilege_type <> ALL (allowed::text[])`;

/** Revokes the rest, which new and restored tables get by default privileges. A role that isn't the owner changes none. */
export async function limitPrivileges(runner: QueryRunner): Promise<void> {
  const values = [Object.keys(LIMITED), Object.values(LIMITED)];
  const others = (await runner.query(FIND_OTHERS, values)) as readonly { readonly statement: string }[];
  for (const { statement } of others) await runner.query(statement);
}
