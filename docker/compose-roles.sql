-- The roles of roles.sql, with the passwords of docker/.env. compose.yaml runs this at each start, before `migrate`, so a
-- new password needs nothing else.
\set ON_ERROR_STOP on
SET client_min_messages = warning;
\ir roles.sql
\getenv owner_password OWNER_PASSWORD
\getenv service_role SERVICE_ROLE
\getenv service_password SERVICE_PASSWORD
ALTER ROLE store_owner LOGIN PASSWORD :'owner_password';
ALTER ROLE :"service_role" LOGIN PASSWORD :'service_password';
