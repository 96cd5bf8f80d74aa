-- The roles of the store's database. Run it in that database as an administrator: a superuser, or the database's owner with
-- CREATEROLE. Run it before the first `migrate`, and before a restore into a new database. It may run again.
--
-- store_owner    owns the tables; for migrate, backup.sh and restore.sh
-- store_serving  may read, add, change and delete rows of all tables but those of `limited` below, run the store's
--                functions, and what PostgreSQL lets every role: take advisory locks, send notifications, connect to other
--                databases. It can't create, alter or truncate anything, use a sequence by itself, or log in
-- store_a, _b    for the services, as members of store_serving: one is in use, the other gets the next password
--
-- None of them can log in until it has a password: ALTER ROLE … LOGIN PASSWORD '…'.

DO $$
DECLARE
  administrator name := current_user;
  role name;
  object record;
  -- One wrong row of these stops every service. `migrate` limits them too, because default privileges give all four rights.
  limited jsonb := '{
    "migrations": "SELECT",
    "deployment": "SELECT, UPDATE",
    "event_feed": "SELECT, UPDATE",
    "secrets": "SELECT, INSERT"
  }';
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
    SELECT 'TABLE' AS kind, oid::regclass::text AS name, relname AS bare_name, relowner AS owner
    FROM pg_class
    WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
      AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = pg_class.oid AND deptype = 'e')
    UNION ALL
    SELECT 'ROUTINE', oid::regprocedure::text, proname, proowner
    FROM pg_proc
    WHERE pronamespace = 'public'::regnamespace
      AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = pg_proc.oid AND deptype = 'e')
  LOOP
    IF object.owner <> 'store_owner'::regrole THEN
      EXECUTE format('ALTER %s %s OWNER TO store_owner', object.kind, object.name);
    END IF;
    IF object.kind = 'TABLE' THEN
      EXECUTE format('REVOKE ALL ON %s FROM store_serving', object.name);
      EXECUTE format('GRANT %s ON %s TO store_serving',
        COALESCE(limited ->> object.bare_name, 'SELECT, INSERT, UPDATE, DELETE'), object.name);
    END IF;
  END LOOP;
  EXECUTE format('REVOKE store_owner FROM %I', administrator);
END
$$;
