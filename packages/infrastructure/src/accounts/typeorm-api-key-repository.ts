import {
  type AccountId,
  type AccountKey,
  type ApiKey,
  type ApiKeyId,
  DomainError,
  type Instant,
  keyState,
  type NewApiKey,
  tooManyKeys,
} from '@adoption-store/domain';
import { Any, type DataSource, type EntityManager, type FindOptionsWhere } from 'typeorm';
import { insertedId } from '../database/columns.js';
import { onDatabase, readFromDatabase } from '../database/database-errors.js';
import { lockAccount } from './account-rows.js';
import { accountFrom } from './account.schema.js';
import { apiKeyFrom, type ApiKeyRow, apiKeySchema } from './api-key.schema.js';
import type { BatchedApiKeyRepository } from './caching-api-key-repository.js';
import { KeyUses } from './key-uses.js';

const COUNT_ACTIVE = `
  SELECT count(*)::integer AS count FROM api_keys
  WHERE account_id = $1 AND (revoked_at IS NULL OR revoked_at > $2) AND (expires_at IS NULL OR expires_at > $2)`;

export class TypeOrmApiKeyRepository implements BatchedApiKeyRepository {
  private readonly uses = new KeyUses((uses) => this.writeUses(uses));

  constructor(private readonly dataSource: DataSource) {}

  async add(key: NewApiKey, mostActive?: number): Promise<ApiKey> {
    return onDatabase(() =>
      this.dataSource.transaction(async (manager) => {
        if ((await lockAccount(manager, key.accountId)) === undefined) {
          throw new DomainError('not_found', `no account has the id ${key.accountId}`);
        }
        return insertKey(manager, key, mostActive);
      }),
    );
  }

  async findByHash(hash: string): Promise<AccountKey | undefined> {
    return (await this.find({ hash }))[0];
  }

  async findByHashes(hashes: readonly string[]): Promise<readonly AccountKey[]> {
    return this.find({ hash: Any(hashes) });
  }

  async findById(id: ApiKeyId): Promise<AccountKey | undefined> {
    return (await this.find({ id }))[0];
  }

  async list(accountId?: AccountId): Promise<readonly AccountKey[]> {
    return this.find(accountId === undefined ? {} : { accountId });
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
  ): Promise<ApiKey | undefined> {
    return onDatabase(() =>
      this.dataSource.transaction(async (manager) => {
        // The account before its keys, as whoever closes it takes them.
        if ((await lockAccount(manager, replacement.accountId)) === undefined) return undefined;
        const old = await lockKey(manager, id);
        if (old === null || old.replacedBy !== undefined) return undefined;
        if (keyState(old, replacement.createdAt) !== 'active') return undefined;
        await manager.update(apiKeySchema, { id }, { expiresAt: oldEndsAt });
        const added = await insertKey(manager, replacement, mostActive);
        await manager.update(apiKeySchema, { id }, { replacedBy: added.id });
        return added;
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

  private async find(where: FindOptionsWhere<ApiKeyRow>): Promise<readonly AccountKey[]> {
    const rows = await readFromDatabase(this.dataSource, () =>
      this.dataSource.getRepository(apiKeySchema).find({ where, relations: { account: true }, order: { id: 'ASC' } }),
    );
    return rows.flatMap((row) => (row.account ? { account: accountFrom(row.account), key: apiKeyFrom(row) } : []));
  }
}

async function lockKey(manager: EntityManager, id: ApiKeyId): Promise<ApiKeyRow | null> {
  return manager.findOne(apiKeySchema, { where: { id }, lock: { mode: 'pessimistic_write' } });
}

/** In a transaction that has taken the account's row, so that nobody adds another meanwhile. */
async function insertKey(manager: EntityManager, key: NewApiKey, mostActive: number | undefined): Promise<ApiKey> {
  if (mostActive !== undefined) {
    const at = [key.accountId.toString(), new Date(key.createdAt)];
    const [{ count }] = await manager.query<[{ count: number }]>(COUNT_ACTIVE, at);
    if (count >= mostActive) throw tooManyKeys(mostActive);
  }
  const added = { ...key, revokedAt: undefined, replacedBy: undefined, lastUsedAt: undefined };
  return { ...added, id: insertedId(await manager.insert(apiKeySchema, { ...added })) as ApiKeyId };
}
