/** After a year: every account was active today, and has an order, a message and an idempotency record. */
export const YEAR = { accounts: 1_000_000, animals: 10_000_000 };
/** The service's times have milliseconds. */
const NOW = `date_trunc('milliseconds', now())`;

/** The statements that fill each table, by the number `n` of an account; orders leave two thirds of the animals available. */
export const fills = ({ accounts, animals }: typeof YEAR): readonly string[] => [
  `INSERT INTO accounts (email, plan, created_at)
   SELECT 'account-' || n || '@example.com', (ARRAY['free', 'pro', 'business'])[1 + n % 3], ${NOW} - interval '1 year'
   FROM generate_series(1, ${accounts}) AS n`,
  `INSERT INTO request_counts (account_id, day_start, day_used, minute_start, minute_used)
   SELECT n, date_trunc('day', now(), 'UTC'), 1 + n % 90, date_trunc('minute', now()), 1 + n % 9
   FROM generate_series(1, ${accounts}) AS n`,
  `INSERT INTO usage_by_day (account_id, day, key_id, admitted, refused)
   SELECT n, (now() AT TIME ZONE 'UTC')::date - n % 400, n, 1 + n % 90, 0 FROM generate_series(1, ${accounts}) AS n`,
  `INSERT INTO animals (name, category_id, status)
   SELECT 'Animal ' || n, n % 20, CASE WHEN n <= ${accounts} THEN 'sold' WHEN n % 3 = 0 THEN 'sold' ELSE 'available' END
   FROM generate_series(1, ${animals}) AS n`,
  `INSERT INTO orders (account_id, animal_id, status, created_at, updated_at)
   SELECT n, n, 'completed', ${NOW} - interval '1 day', ${NOW} FROM generate_series(1, ${accounts}) AS n`,
  `INSERT INTO messages (id, account_id, text, status, due_at, created_at)
   SELECT gen_random_uuid(), n, repeat('A question. ', 20), CASE WHEN n % 1000 = 0 THEN 'failed' ELSE 'sent' END,
     created_at, created_at
   FROM (SELECT n, ${NOW} - n % 90 * interval '1 day' AS created_at FROM generate_series(1, ${accounts}) AS n) AS sent`,
  `INSERT INTO idempotency_records (account_id, key, fingerprint, answer, answered_at)
   SELECT n, gen_random_uuid(), encode(sha256(n::text::bytea), 'hex'), repeat('a', 120), ${NOW} - n % 48 * interval '1 hour'
   FROM generate_series(1, ${accounts}) AS n`,
  `INSERT INTO sessions (sid, token_hash, account_id, credential_version, begun_at, used_at, expire)
   SELECT gen_random_uuid(), encode(sha256(n::text::bytea), 'hex'), n, 0, ${NOW}, ${NOW}, ${NOW} + interval '7 days'
   FROM generate_series(1, ${accounts} / 10) AS n`,
];
