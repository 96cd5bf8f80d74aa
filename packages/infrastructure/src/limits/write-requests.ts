import { MOST_FAILED_REQUESTS, MOST_OF_A_CODE, MOST_REQUEST_IDS } from '@adoption-store/domain';
import { arraysOf, timeOf } from '../database/columns.js';
import type { Statement } from '../database/prepared.js';
import type { HourOfKey, KeyUse, OperationOfKey, UnwrittenFailedRequests } from './unwritten-requests.js';

/** A statement that writes many rows of one kind. Each parameter is an array of the values of one column. */
export interface Write<Row> extends Statement {
  readonly columnsOf: (rows: readonly Row[]) => unknown[][];
}

/**
 * Several instances record the same minute of a key. A row that already has the minute isn't written again. The rows
 * are locked in the order of their ids, so that two instances that write the same keys can't deadlock.
 */
export const WRITE_USES: Write<KeyUse> = {
  name: 'api key uses write',
  text: `
  WITH uses AS (SELECT id, ${timeOf('at')} AS at FROM unnest($1::bigint[], $2::bigint[]) AS uses (id, at)),
    newer AS (
      SELECT id, at FROM api_keys JOIN uses USING (id) WHERE last_used_at IS NULL OR last_used_at < at
      ORDER BY id FOR NO KEY UPDATE OF api_keys)
  UPDATE api_keys SET last_used_at = newer.at FROM newer WHERE api_keys.id = newer.id`,
  columnsOf: (rows) => arraysOf(rows, 'keyId', 'at'),
};

/** As `WRITE_USES`. The first join drops deleted keys. */
export const WRITE_OPERATIONS: Write<OperationOfKey> = {
  name: 'api key operations write',
  text: `
  INSERT INTO key_operations AS stored (key_id, operation, last_used_at)
  SELECT used.key_id, used.operation, ${timeOf('used.at')}
  FROM unnest($1::bigint[], $2::text[], $3::bigint[]) AS used (key_id, operation, at)
  JOIN api_keys ON api_keys.id = used.key_id
  LEFT JOIN key_operations AS known ON (known.key_id, known.operation) = (used.key_id, used.operation)
  WHERE known.last_used_at IS NULL OR known.last_used_at < ${timeOf('used.at')}
  ORDER BY used.key_id, used.operation
  ON CONFLICT (key_id, operation) DO UPDATE SET last_used_at = excluded.last_used_at
  WHERE stored.last_used_at < excluded.last_used_at`,
  columnsOf: (rows) => arraysOf(rows, 'keyId', 'operation', 'at'),
};

/**
 * The usage of all instances is added up, by hour and by day. The join drops deleted keys. The rows are sorted, because
 * two instances that lock them in different orders could deadlock.
 */
export const ADD_USAGE: Write<HourOfKey> = {
  name: 'usage add by hour and day',
  text: `
  WITH noted AS MATERIALIZED (
    SELECT account_id, key_id, ${timeOf('hour')} AS hour, admitted, refused, ${timeOf('last_at')} AS last_at
    FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[])
      AS noted (key_id, hour, admitted, refused, last_at)
    JOIN api_keys ON api_keys.id = key_id
  ), by_hour AS (
    INSERT INTO usage_by_hour AS stored (account_id, hour, key_id, admitted, refused, last_at)
    SELECT account_id, hour, key_id, admitted, refused, last_at FROM noted ORDER BY key_id, hour
    ON CONFLICT (account_id, hour, key_id) DO UPDATE SET
      admitted = stored.admitted + excluded.admitted, refused = stored.refused + excluded.refused,
      last_at = greatest(stored.last_at, excluded.last_at)
  )
  INSERT INTO usage_by_day AS stored (account_id, day, key_id, admitted, refused)
  SELECT account_id, (hour AT TIME ZONE 'UTC')::date AS day, key_id, sum(admitted), sum(refused)
  FROM noted GROUP BY account_id, day, key_id ORDER BY key_id, day
  ON CONFLICT (account_id, day, key_id) DO UPDATE SET
    admitted = stored.admitted + excluded.admitted, refused = stored.refused + excluded.refused`,
  columnsOf: (rows) => arraysOf(rows, 'keyId', 'start', 'admitted', 'refused', 'lastAt'),
};

/**
 * Adds failed requests of open accounts to those that are stored. The rows are sorted, because two instances that lock
 * them in different orders could deadlock.
 */
export const ADD_FAILED_REQUESTS: Write<UnwrittenFailedRequests> = {
  name: 'failed requests add',
  text: `
  INSERT INTO failed_requests AS stored (account_id, key_id, operation, code, reason, status, at, count, request_ids)
  SELECT account_id, key_id, operation, code, reason, status, ${timeOf('at')}, count, string_to_array(request_ids, ' ')
  FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::smallint[], $7::bigint[],
    $8::bigint[], $9::text[])
    AS noted (account_id, key_id, operation, code, reason, status, at, count, request_ids)
  JOIN accounts ON accounts.id = account_id AND accounts.closed_at IS NULL
  ORDER BY account_id, key_id, operation, code, reason
  ON CONFLICT (account_id, key_id, operation, code, reason) DO UPDATE SET
    status = excluded.status, at = greatest(stored.at, excluded.at), count = stored.count + excluded.count,
    request_ids = (CASE WHEN excluded.at >= stored.at THEN excluded.request_ids || stored.request_ids
      ELSE stored.request_ids || excluded.request_ids END)[1:${MOST_REQUEST_IDS}]`,
  columnsOf: (rows) => [
    ...arraysOf(rows, 'accountId', 'keyId', 'operation', 'code'),
    rows.map(({ reason }) => reason ?? ''),
    ...arraysOf(rows, 'status', 'at', 'count'),
    rows.map(({ requestIds }) => requestIds.join(' ')),
  ],
};

/**
 * Deletes what `keptFailedRequests` doesn't keep of these accounts. Reads follow the rule themselves, so this only frees
 * room. It skips rows that another instance is writing or deleting, because the two could deadlock.
 */
export const TRIM_FAILED_REQUESTS: Statement = {
  name: 'failed requests trim',
  text: `
  WITH ranked AS (
    SELECT ctid, account_id, at, row_number() OVER (PARTITION BY account_id, code ORDER BY at DESC) AS in_code
    FROM failed_requests WHERE account_id = ANY($1::bigint[])
  ), kept AS (
    SELECT ctid, row_number() OVER (PARTITION BY account_id ORDER BY at DESC) AS in_account
    FROM ranked WHERE in_code <= ${MOST_OF_A_CODE}
  ), surplus AS MATERIALIZED (
    SELECT ctid FROM ranked WHERE in_code > ${MOST_OF_A_CODE}
    UNION ALL SELECT ctid FROM kept WHERE in_account > ${MOST_FAILED_REQUESTS}
  ), locked AS MATERIALIZED (
    SELECT ctid FROM failed_requests WHERE ctid = ANY(ARRAY(SELECT ctid FROM surplus)) FOR UPDATE SKIP LOCKED
  )
  DELETE FROM failed_requests WHERE ctid = ANY(ARRAY(SELECT ctid FROM locked))`,
};
