import {
  type AccountId,
  type AccountKey,
  type ApiKey,
  type ApiKeyId,
  type ApiKeyRepository,
  DAY,
  DomainError,
  endOfReplaced,
  INT64_MAX,
  type Instant,
  instant,
  type KeySearch,
  keyState,
  type ListPart,
  type NewApiKey,
  type OperationUse,
  type PastKeysQuery,
  startOf,
  tooManyKeys,
  tooManyKeysToday,
} from '@adoption-store/domain';
import {
  type DataSource,
  type EntityManager,
  type FindOptionsWhere,
  IsNull,
  MoreThan,
  type SelectQueryBuilder,
} from 'typeorm';
import { Columns } from '../database/columns.js';
import { readFromDatabase } from '../database/database-errors.js';
import { deletePortions } from '../database/delete-portions.js';
import { readPrepared } from '../database/prepared.js';
import { inTransaction } from '../database/transactions.js';
import { lockAccount } from './account-queries.js';
import { accountFrom, type AccountRow, accountSchema } from './account.schema.js';
import { type ApiKeyRow, apiKeySchema, KEY_END, KEY_STATE } from './api-key.schema.js';
import { KeyCache } from './key-cache.js';

const keys = new Columns(apiKeySchema);
const accounts = new Columns(accountSchema);

/** TypeORM leaves a column that is undefined as it is. */
const NULL = () => 'NULL';

// A rotation without an overlap has revoked the old key at its end, so that revocation is removed. A separate
// revocation stays.
const RESTORE_REPLACED = `
  UPDATE api_keys
  SET expires_at = $3, revoked_at = CASE WHEN revoked_at = expires_at THEN NULL ELSE revoked_at END, replaced_by = NULL
  WHERE id = $1 AND replaced_by = $2`;

/** Written in SQL, because TypeORM took several times as long and all keys in use are read once a second. */
const FIND_BY_HASHES = {
  name: 'api keys by hashes',
  text: `
    SELECT ${keys.list('keys')}, ${accounts.list('accounts')}
    FROM unnest($1::text[]) AS asked (hash)
    JOIN api_keys AS keys ON keys.hash = asked.hash JOIN accounts ON accounts.id = keys.account_id`,
};

/**
 * A range of the index by account and id. Active and disabled keys are few, and are a range of the index by account and
 * end: PostgreSQL finds them there, however many keys have ended. A part of a name is compared with each key that is left.
 */
function searchOf({ accountId, states, at, name, after, before, limit }: KeySearch) {
  const isCurrent = states.every((state) => state === 'active' || state === 'disabled');
  const isBack = before !== undefined;
  const theirs = isCurrent
    ? `SELECT * FROM api_keys WHERE account_id = $1 AND ${KEY_END} > $2 AND revoked_at IS NULL OFFSET 0`
    : 'SELECT * FROM api_keys WHERE account_id = $1';
  const values: unknown[] = [accountId, new Date(at), states, before ?? after ?? INT64_MAX, limit];
  const isNamed = name === undefined ? '' : `AND name ILIKE $${values.push(`%${name.replace(/[\\%_]/g, '\\$&')}%`)}`;
  return {
    name: ['api keys search', isCurrent && 'current', isBack && 'back', name !== undefined && 'named']
      .filter((part) => part !== false)
      .join(' '),
    text: `
    SELECT ${keys.list()} FROM (${theirs}) AS theirs
    WHERE ${KEY_STATE} = ANY($3) AND id ${isBack ? '>' : '<'} $4 ${isNamed}
    ORDER BY account_id ${isBack ? 'ASC' : 'DESC'}, id ${isBack ? 'ASC' : 'DESC'} LIMIT $5`,
    values,
  };
}

const OPERATIONS = {
  name: 'api key operations',
  text: `
  SELECT key_id, operation, last_used_at FROM key_operations WHERE key_id = ANY($1)
  ORDER BY key_id, last_used_at DESC, operation`,
};

export class TypeOrmApiKeyRepository implements ApiKeyRepository {
  private readonly cache;

  constructor(private readonly dataSource: DataSource) {
    this.cache = new KeyCache((hashes) => this.findByHashes(hashes));
  }

  async add(key: NewApiKey, mostActive?: number, version?: number, mostADay?: number): Promise<ApiKey> {
    return this.changing(async (manager) => {
      if ((await lockAccount(manager, withVersion(key.accountId, version))) === null) {
        throw new DomainError('not_found', `no account has the id ${key.accountId}`);
      }
      return insertKey(manager, key, mostActive, mostADay);
    });
  }

  findByHash(hash: string): Promise<AccountKey | undefined> {
    return this.cache.find(hash);
  }

  async findById(id: ApiKeyId): Promise<AccountKey | undefined> {
    return (await this.find({ id }))[0];
  }

  async list(accountId?: AccountId, { after, limit }: ListPart<ApiKeyId> = {}): Promise<readonly AccountKey[]> {
    const theirs = accountId === undefined ? {} : { accountId };
    return this.find({ ...theirs, ...(after !== undefined && { id: MoreThan(after) }) }, limit);
  }

  async listActive(accountId: AccountId, at: Instant): Promise<readonly ApiKey[]> {
    const query = selectActive(this.dataSource.manager, accountId, at).orderBy('key.id');
    return readFromDatabase(this.dataSource, () => query.getMany());
  }

  async listPast({ accountId, at, limit }: PastKeysQuery): Promise<readonly ApiKey[]> {
    const query = selectKeys(this.dataSource.manager)
      .where(`key.accountId = :accountId AND ${KEY_END} < 'infinity'`, { accountId })
      // A revoked key has ended even if this clock is behind the clock of the instance that revoked it.
      .andWhere(`(${KEY_END} <= :at OR key.revokedAt IS NOT NULL)`, { at: new Date(at) })
      .orderBy(KEY_END, 'DESC')
      .addOrderBy('key.id', 'DESC')
      .limit(limit);
    return readFromDatabase(this.dataSource, () => query.getMany());
  }

  async search(query: KeySearch): Promise<readonly ApiKey[]> {
    const { values, ...statement } = searchOf(query);
    const rows = await readPrepared(this.dataSource, statement, values);
    const found = rows.map((row) => keys.fromValues(row));
    return query.before === undefined ? found : found.reverse();
  }

  async purge(endedUntil: Instant): Promise<number> {
    // In small batches: each deleted key deletes its usage too.
    return deletePortions(this.dataSource, { table: 'api_keys', time: KEY_END, most: 100 }, endedUntil);
  }

  async revoke(id: ApiKeyId, at: Instant): Promise<ApiKey | undefined> {
    return this.changing(async (manager) => {
      await revokeKey(manager, id, at);
      return (await manager.findOneBy(apiKeySchema, { id })) ?? undefined;
    });
  }

  async rename(id: ApiKeyId, name: string | undefined): Promise<ApiKey | undefined> {
    return this.changing(async (manager) => {
      await manager.update(apiKeySchema, { id }, { name: name ?? NULL });
      return (await manager.findOneBy(apiKeySchema, { id })) ?? undefined;
    });
  }

  async disable(id: ApiKeyId, at: Instant | undefined): Promise<ApiKey | undefined> {
    return this.changing(async (manager) => {
      const key = await manager.findOne(apiKeySchema, { where: { id }, lock: { mode: 'pessimistic_write' } });
      if (key === null || key.revokedAt !== undefined) return undefined;
      const disabledAt = at && (key.disabledAt ?? at);
      await manager.update(apiKeySchema, { id }, { disabledAt: disabledAt ?? NULL });
      return { ...key, disabledAt };
    });
  }

  async replace(
    id: ApiKeyId,
    replacement: NewApiKey,
    oldEndsAt: Instant,
    mostActive?: number,
    version?: number,
    mostADay?: number,
  ): Promise<ApiKey | undefined> {
    return this.changing(async (manager) => {
      // The account is locked before its keys, in the same order as when it is closed.
      if ((await lockAccount(manager, withVersion(replacement.accountId, version))) === null) return undefined;
      const old = await manager.findOne(apiKeySchema, { where: { id }, lock: { mode: 'pessimistic_write' } });
      if (old === null || old.replacedBy !== undefined) return undefined;
      if (keyState(old, replacement.createdAt) !== 'active') return undefined;
      await manager.update(apiKeySchema, { id }, endOfReplaced(oldEndsAt, replacement.createdAt));
      const added = await insertKey(manager, replacement, mostActive, mostADay);
      await manager.update(apiKeySchema, { id }, { replacedBy: added.id });
      return added;
    });
  }

  async takeBack(id: ApiKeyId, at: Instant, replaced?: ApiKey): Promise<void> {
    await this.changing(async (manager) => {
      if (replaced !== undefined) {
        const end = replaced.expiresAt === undefined ? null : new Date(replaced.expiresAt);
        await manager.query(RESTORE_REPLACED, [replaced.id.toString(), id.toString(), end]);
      }
      await revokeKey(manager, id, at);
    });
  }

  async listOperations(ids: readonly ApiKeyId[]): Promise<ReadonlyMap<ApiKeyId, readonly OperationUse[]>> {
    const rows = await readPrepared<[string, string, Date]>(this.dataSource, OPERATIONS, [ids]);
    const called = new Map<ApiKeyId, OperationUse[]>();
    for (const [text, operation, at] of rows) {
      const id = BigInt(text) as ApiKeyId;
      const uses = called.get(id) ?? [];
      called.set(id, uses);
      uses.push({ operation, lastUsedAt: instant(at.getTime()) });
    }
    return called;
  }

  private async changing<Result>(work: (manager: EntityManager) => Promise<Result>): Promise<Result> {
    return inTransaction(this.dataSource, work);
  }

  private async findByHashes(hashes: readonly string[]): Promise<readonly (AccountKey | undefined)[]> {
    const rows = await readPrepared(this.dataSource, FIND_BY_HASHES, [hashes]);
    const found = rows.map((row) => ({
      key: keys.fromValues(row),
      account: accountFrom(accounts.fromValues(row, keys.count)),
    }));
    const byHash = new Map(found.map((each) => [each.key.hash, each]));
    return hashes.map((hash) => byHash.get(hash));
  }

  private async find(where: FindOptionsWhere<ApiKeyRow>, limit?: number): Promise<readonly AccountKey[]> {
    const query = selectKeys(this.dataSource.manager).innerJoinAndSelect('key.account', 'account');
    const rows = await readFromDatabase(this.dataSource, () =>
      query.where(where).orderBy('key.id').limit(limit).getMany(),
    );
    return rows.flatMap(({ account, ...key }) => (account ? { account: accountFrom(account), key } : []));
  }
}

function selectKeys(manager: EntityManager): SelectQueryBuilder<ApiKeyRow> {
  return manager.createQueryBuilder(apiKeySchema, 'key');
}

function selectActive(manager: EntityManager, accountId: AccountId, at: Instant): SelectQueryBuilder<ApiKeyRow> {
  const active = `key.accountId = :accountId AND ${KEY_END} > :at AND key.revokedAt IS NULL`;
  return selectKeys(manager).where(active, { accountId, at: new Date(at) });
}

function withVersion(id: AccountId, version: number | undefined): FindOptionsWhere<AccountRow> {
  return { id, ...(version !== undefined && { credentialVersion: version }) };
}

async function revokeKey(manager: EntityManager, id: ApiKeyId, revokedAt: Instant): Promise<void> {
  await manager.update(apiKeySchema, { id, revokedAt: IsNull() }, { revokedAt });
}

/** Must run in a transaction that has locked the account's row, so that no other key is added meanwhile. */
async function insertKey(
  manager: EntityManager,
  key: NewApiKey,
  mostActive?: number,
  mostADay?: number,
): Promise<ApiKey> {
  const { accountId, createdAt } = key;
  if (mostActive !== undefined && (await selectActive(manager, accountId, createdAt).getCount()) >= mostActive) {
    throw tooManyKeys(mostActive);
  }
  if (mostADay !== undefined) {
    // Their ids ascend with time, because an account adds one key at a time.
    const order = { accountId: 'DESC', id: 'DESC' } as const;
    const [earlier] = await manager.find(apiKeySchema, { where: { accountId }, order, skip: mostADay - 1, take: 1 });
    if (earlier !== undefined && earlier.createdAt >= startOf(DAY, createdAt)) throw tooManyKeysToday(mostADay);
  }
  const { identifiers } = await manager.insert(apiKeySchema, { ...key });
  const id = BigInt(identifiers[0]?.['id'] as string) as ApiKeyId;
  return { ...key, id, revokedAt: undefined, disabledAt: undefined, replacedBy: undefined, lastUsedAt: undefined };
}
