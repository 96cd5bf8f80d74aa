import {
  type AccountId,
  type AccountKey,
  type ApiKey,
  type ApiKeyId,
  DAY,
  DomainError,
  endOfReplaced,
  INT64_MIN,
  type Instant,
  keyState,
  type ListPart,
  type NewApiKey,
  type PastKeysQuery,
  startOf,
  tooManyKeys,
  tooManyKeysToday,
} from '@adoption-store/domain';
import type { DataSource, EntityManager, FindOptionsWhere } from 'typeorm';
import { Columns, insertedId } from '../database/columns.js';
import { onDatabase, readFromDatabase } from '../database/database-errors.js';
import { deletePortions } from '../database/delete-portions.js';
import { readPrepared } from '../database/prepared.js';
import { lockAccount } from './account-rows.js';
import { accountFrom, accountSchema } from './account.schema.js';
import { apiKeyFrom, type ApiKeyRow, apiKeySchema, KEY_END } from './api-key.schema.js';
import type { BatchedApiKeyRepository } from './caching-api-key-repository.js';
import { KeyUses } from './key-uses.js';
import type { StoredKey } from './known-key.js';

const keys = new Columns(apiKeySchema);
const accounts = new Columns(accountSchema);

const ACTIVE = `account_id = $1 AND ${KEY_END} > $2 AND revoked_at IS NULL`;
const COUNT_ACTIVE = `SELECT count(*)::integer AS count FROM api_keys WHERE ${ACTIVE}`;
// The newest are enough: their ids go up, as an account adds one key at a time.
const COUNT_MADE = `
  SELECT count(*)::integer AS count
  FROM (SELECT created_at FROM api_keys WHERE account_id = $1 ORDER BY account_id DESC, id DESC LIMIT $3) AS newest
  WHERE created_at >= $2`;
const LIST_ACTIVE = `SELECT * FROM api_keys WHERE ${ACTIVE} ORDER BY id`;
/** A revoked key is over also where this clock is behind the one that it was revoked by. */
const LIST_PAST = `
  SELECT * FROM api_keys
  WHERE account_id = $1 AND (${KEY_END}, id) < ($3, $4) AND (${KEY_END} <= $2 OR revoked_at IS NOT NULL)
  ORDER BY ${KEY_END} DESC, id DESC LIMIT $5`;

// A rotation that ends the old key at once has revoked it at its end; a revocation by itself stays.
const RESTORE_REPLACED = `
  UPDATE api_keys
  SET expires_at = $3, revoked_at = CASE WHEN revoked_at = expires_at THEN NULL ELSE revoked_at END, replaced_by = NULL
  WHERE id = $1 AND replaced_by = $2`;
const REVOKE = 'UPDATE api_keys SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL';
// In small portions: each key that goes is told to every instance, and takes with it what is kept of it.
const FORGET_PAST = `
  DELETE FROM api_keys WHERE id = ANY(ARRAY(
    SELECT id FROM api_keys WHERE ${KEY_END} <= $1 ORDER BY ${KEY_END} LIMIT 100 FOR UPDATE SKIP LOCKED))`;

/**
 * A row's `xmin` is the transaction that wrote it (PostgreSQL, "System Columns"); the same one can come again only
 * from a server that took over without having had it, and then what is known is forgotten as the connection to the other
 * is lost.
 */
const VERSION = "keys.xmin || ' ' || accounts.xmin";

/**
 * All keys in use are asked about more than twice a second: TypeORM took several times as long for that, and so does
 * reading what has not changed. A join, as PostgreSQL goes through all of an array for each row of a table that it thinks
 * small enough to be read as a whole.
 */
const FIND_BY_HASHES = {
  name: 'api keys by hashes',
  text: `
    SELECT asked.hash, ${VERSION}, ${keys.list('keys')}, ${accounts.list('accounts')}
    FROM unnest($1::text[], $2::text[]) AS asked (hash, version)
    LEFT JOIN (api_keys AS keys JOIN accounts ON accounts.id = keys.account_id) ON keys.hash = asked.hash
    WHERE keys.id IS NULL OR ${VERSION} <> asked.version`,
};

/** Of a hash that nothing is stored for all but the hash is null. */
type KeyRow = readonly [hash: string, version: string | null, ...keyAndAccount: readonly unknown[]];

function storedKeyFrom([, version, ...row]: KeyRow): StoredKey | undefined {
  if (version === null) return undefined;
  return { found: { key: keys.fromValues(row), account: accountFrom(accounts.fromValues(row, keys.count)) }, version };
}

export class TypeOrmApiKeyRepository implements BatchedApiKeyRepository {
  private readonly uses = new KeyUses((uses) => this.writeUses(uses));

  constructor(private readonly dataSource: DataSource) {}

  async add(key: NewApiKey, mostActive?: number, version?: number, mostADay?: number): Promise<ApiKey> {
    return onDatabase(() =>
      this.dataSource.transaction(async (manager) => {
        if (!hasVersion(await lockAccount(manager, key.accountId), version)) {
          throw new DomainError('not_found', `no account has the id ${key.accountId}`);
        }
        return insertKey(manager, key, mostActive, mostADay);
      }),
    );
  }

  async findByHash(hash: string): Promise<AccountKey | undefined> {
    return (await this.find({ hash }))[0];
  }

  async findByHashes(
    known: ReadonlyMap<string, string | undefined>,
  ): Promise<ReadonlyMap<string, StoredKey | undefined>> {
    const versions = Array.from(known.values(), (version) => version ?? 'none');
    const asked = [[...known.keys()], versions];
    const rows = await readPrepared<KeyRow>(this.dataSource, FIND_BY_HASHES, asked);
    return new Map(rows.map((row) => [row[0], storedKeyFrom(row)]));
  }

  async findById(id: ApiKeyId): Promise<AccountKey | undefined> {
    return (await this.find({ id }))[0];
  }

  async list(accountId?: AccountId, { after, limit }: ListPart<ApiKeyId> = {}): Promise<readonly AccountKey[]> {
    const query = this.dataSource
      .getRepository(apiKeySchema)
      .createQueryBuilder('key')
      .innerJoinAndSelect('key.account', 'account')
      .orderBy('key.id')
      .limit(limit);
    if (accountId !== undefined) query.andWhere('key.accountId = :accountId', { accountId: String(accountId) });
    if (after !== undefined) query.andWhere('key.id > :after', { after: String(after) });
    return accountKeysFrom(await readFromDatabase(this.dataSource, () => query.getMany()));
  }

  async listActive(accountId: AccountId, at: Instant): Promise<readonly ApiKey[]> {
    return this.query(LIST_ACTIVE, [accountId, new Date(at)]);
  }

  async listPast({ accountId, at, before, limit }: PastKeysQuery): Promise<readonly ApiKey[]> {
    const place = before === undefined ? ['infinity', INT64_MIN] : [new Date(before.endedAt), before.id];
    return this.query(LIST_PAST, [accountId, new Date(at), ...place, limit]);
  }

  async forgetPast(endedUntil: Instant): Promise<number> {
    return deletePortions(this.dataSource, FORGET_PAST, endedUntil);
  }

  async revoke(id: ApiKeyId, at: Instant): Promise<ApiKey | undefined> {
    return onDatabase(() =>
      this.dataSource.transaction(async (manager) => {
        const key = await lockKey(manager, id);
        if (key === null || key.revokedAt !== undefined) return key === null ? undefined : apiKeyFrom(key);
        await manager.update(apiKeySchema, { id }, { revokedAt: at });
        return apiKeyFrom({ ...key, revokedAt: at });
      }),
    );
  }

  async replace(
    id: ApiKeyId,
    replacement: NewApiKey,
    oldEndsAt: Instant,
    mostActive?: number,
    version?: number,
    mostADay?: number,
  ): Promise<ApiKey | undefined> {
    return onDatabase(() =>
      this.dataSource.transaction(async (manager) => {
        // The account before its keys, as whoever closes it takes them.
        if (!hasVersion(await lockAccount(manager, replacement.accountId), version)) return undefined;
        const old = await lockKey(manager, id);
        if (old === null || old.replacedBy !== undefined) return undefined;
        if (keyState(old, replacement.createdAt) !== 'active') return undefined;
        await manager.update(apiKeySchema, { id }, endOfReplaced(oldEndsAt, replacement.createdAt));
        const added = await insertKey(manager, replacement, mostActive, mostADay);
        await manager.update(apiKeySchema, { id }, { replacedBy: added.id });
        return added;
      }),
    );
  }

  async takeBack(id: ApiKeyId, at: Instant, replaced?: ApiKey): Promise<void> {
    await onDatabase(() =>
      this.dataSource.transaction(async (manager) => {
        if (replaced !== undefined) {
          const end = replaced.expiresAt === undefined ? null : new Date(replaced.expiresAt);
          await manager.query(RESTORE_REPLACED, [replaced.id.toString(), id.toString(), end]);
        }
        await manager.query(REVOKE, [id.toString(), new Date(at)]);
      }),
    );
  }

  recordUse(id: ApiKeyId, at: Instant): void {
    this.uses.record(id, at);
  }

  /** Writes the uses that have not been written yet; those that the database can't take now are lost. */
  async close(): Promise<void> {
    await this.uses.close();
  }

  private async writeUses(uses: ReadonlyMap<ApiKeyId, Instant>): Promise<void> {
    // Locked in the order of their ids, so that two instances that write the same keys can't wait for each other.
    const text = `
      WITH uses AS (SELECT * FROM unnest($1::bigint[], $2::timestamptz[]) AS uses (id, at)),
        locked AS (SELECT id FROM api_keys WHERE id IN (SELECT id FROM uses) ORDER BY id FOR NO KEY UPDATE)
      UPDATE api_keys SET last_used_at = GREATEST(last_used_at, uses.at)
      FROM uses JOIN locked USING (id) WHERE api_keys.id = uses.id`;
    const instants = [...uses.values()].map((at) => new Date(at));
    await onDatabase(() => this.dataSource.query(text, [[...uses.keys()].map(String), instants]));
  }

  private async query(text: string, parameters: readonly unknown[]): Promise<readonly ApiKey[]> {
    const rows = await readFromDatabase(this.dataSource, () =>
      this.dataSource.query<Record<string, unknown>[]>(text, [...parameters]),
    );
    return rows.map((row) => keys.fromRow(row));
  }

  private async find(where: FindOptionsWhere<ApiKeyRow>): Promise<readonly AccountKey[]> {
    const rows = await readFromDatabase(this.dataSource, () =>
      this.dataSource.getRepository(apiKeySchema).find({ where, relations: { account: true }, order: { id: 'ASC' } }),
    );
    return accountKeysFrom(rows);
  }
}

function accountKeysFrom(rows: readonly ApiKeyRow[]): readonly AccountKey[] {
  return rows.flatMap((row) => (row.account ? { account: accountFrom(row.account), key: apiKeyFrom(row) } : []));
}

function hasVersion(account: { readonly version: number } | undefined, version: number | undefined): boolean {
  return account !== undefined && (version === undefined || account.version === version);
}

async function lockKey(manager: EntityManager, id: ApiKeyId): Promise<ApiKeyRow | null> {
  return manager.findOne(apiKeySchema, { where: { id }, lock: { mode: 'pessimistic_write' } });
}

/** In a transaction that has taken the account's row, so that nobody adds another meanwhile. */
async function insertKey(
  manager: EntityManager,
  key: NewApiKey,
  mostActive = Infinity,
  mostADay = Infinity,
): Promise<ApiKey> {
  const { accountId, createdAt } = key;
  const count = async (text: string, ...parameters: readonly unknown[]) =>
    (await manager.query<[{ count: number }]>(text, [accountId, ...parameters]))[0].count;
  if (mostActive < Infinity && (await count(COUNT_ACTIVE, new Date(createdAt))) >= mostActive) {
    throw tooManyKeys(mostActive);
  }
  const today = new Date(startOf(DAY, createdAt));
  if (mostADay < Infinity && (await count(COUNT_MADE, today, mostADay)) >= mostADay) throw tooManyKeysToday(mostADay);
  const added = { ...key, revokedAt: undefined, replacedBy: undefined, lastUsedAt: undefined };
  return { ...added, id: insertedId(await manager.insert(apiKeySchema, { ...added })) as ApiKeyId };
}
