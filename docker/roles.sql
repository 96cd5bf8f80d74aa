-- The roles of the store's database. Run it in that database as an administrator: a superuser, or the database's owner with
-- CREATEROLE. Run it before the first `migrate`, and before a restore into a new database. It may run again.
--
-- store_owner    owns the tables; for migrate, backup.sh and restore.sh
-- store_serving  may read and write rows, and nothing else; it can't log in
-- store_a, _b    for the services, as members of store_serving: one is in use, the other gets the next password
--
-- None of them can log in until it has a password: ALTER ROLE … LOGIN PASSWORD '…'.

DO $$
DECLARE
  administrator name := current_user;
  role name;
  object record;
BEGIN
  FOREACH role IN ARRAY '{store_owner, store_serving, store_a, store_b}'::name[] LOOP
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = role) THEN
      EXECUTE format('CREATE ROLE %I NOLOGIN', role);
    END IF;
  END LOOP;
  GRANT store_serving TO store_a, store_b;

  -- Only members of a role can change its default privileges.
  EXECUTE format('GRANT store_owner TO %I', administrator);
  EXECUTE format('REVOKE TEMPORARY ON DATABASE %I FROM PUBLIC', current_database());
  EXECUTE format('GRANT TEMPORARY ON DATABASE %I TO store_owner', current_database());
  REVOKE CREATE ON SCHEMA public FROM PUBLIC;
  GRANT USAGE, CREATE ON SCHEMA public TO store_owner;
  GRANT USAGE ON SCHEMA public TO store_serving;
  ALTER DEFAULT PRIVILEGES FOR ROLE store_owner IN SCHEMA public
    GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO store_serving;

  -- If one role has created everything until now, its tables and functions get the new owner.
  FOR object IN
    SELECT 'TABLE' AS kind, oid::regclass::text AS name, relowner AS owner
    FROM pg_class
    WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
      AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = pg_class.oid AND deptype = 'e')
    UNION ALL
    SELECT 'ROUTINE', oid::regprocedure::text, proowner
    FROM pg_proc
    WHERE pronamespace = 'public'::regnamespace
      AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = pg_proc.oid AND deptype = 'e')
  LOOP
    IF object.owner <> 'store_owner'::regrole THEN
      EXECUTE format('ALTER %s %s OWNER TO store_owner', object.kind, object.name);
    END IF;
    IF object.kind = 'TABLE' THEN
      EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %s TO store_serving', object.name);
    END IF;
  END LOOP;
  EXECUTE format('REVOKE store_owner FROM %I', administrator);
END
$$;
