import { readFromDatabase } from '../database/on-database.js';
import {
  type AccountId,
  type AccountKey,
  type ApiKey,
  type ApiKeyId,
  type ApiKeyRepository,
  DAY,
  INT64_MAX,
  type Instant,
  instant,
  type KeyHolder,
  type KeySearch,
  type KeyToChange,
  type ListPart,
  type MadeKey,
  MOST_KEYS_A_DAY,
  type NewApiKey,
  type OperationUse,
  type PastKeysQuery,
  type RotatedKey,
  type RotationState,
  startOf,
  type StoredRotation,
  type Transaction,
  type RolledBackKey,
  type UnseenKey,
} from '@adoption-store/domain';
import { type DataSource, type EntityManager, type FindOptionsWhere, MoreThan, type SelectQueryBuilder } from 'typeorm';
import { Columns } from '../database/columns.js';
import { deletePortions, inPortions } from '../database/delete-portions.js';
import { lookUpPrepared, queryPrepared, readPrepared, scanOf } from '../database/prepared.js';
import { inTransaction } from '../database/transactions.js';
import { accountOf, findLocked } from './account-queries.js';
import { accountFrom, type AccountRow, accountSchema } from './account.schema.js';
import { type ApiKeyRow, apiKeySchema, HAS_NOT_ENDED, KEY_END, KEY_STATE } from './api-key.schema.js';
import { KeyCache, type KeysFound, MOST_PAUSE } from './key-cache.js';
import { queueNotice } from './postgres-account-mail-queue.js';

const keys = new Columns(apiKeySchema);
const accounts = new Columns(accountSchema);

/** TypeORM's updates skip undefined, so a column is emptied with SQL. */
const NULL = () => 'NULL';

// The highest ids are the latest keys, because an account adds one key at a time.
const COUNT_KEYS = `
  SELECT
    (SELECT count(*) FROM api_keys WHERE account_id = $1 AND ${HAS_NOT_ENDED})::integer AS "activeKeys",
    (
      SELECT count(*) FROM (
        SELECT created_at FROM api_keys WHERE account_id = $1 ORDER BY account_id DESC, id DESC LIMIT ${MOST_KEYS_A_DAY}
      ) AS latest
      WHERE created_at >= $3
    )::integer AS "madeToday"`;

/**
 * One statement, so that the state, the changes and the keys are of one snapshot. Its rows are the state and each key.
 * A standby's snapshot doesn't tell which transactions are running, so it has no state. A restore, a truncation or a
 * rewrite gives a table another file. Ids of transactions that are yet to come are of a restored table, from before.
 */
const LOOK_UP = {
  name: 'api keys look up',
  text: `
    SELECT state.*, ${keys.list('keys')}, ${accounts.list('accounts')}
    FROM (
      SELECT
        pg_current_snapshot()::text,
        CASE WHEN NOT pg_is_in_recovery() THEN
          concat_ws(' ', extract(epoch FROM pg_postmaster_start_time()), pg_relation_filenode('accounts'),
            pg_relation_filenode('api_keys'), pg_relation_filenode('access_changes'))
        END,
        extract(epoch FROM clock_timestamp())::double precision * 1000,
        ARRAY(
          SELECT DISTINCT account_id FROM access_changes
          WHERE transaction >= pg_snapshot_xmin($2::pg_snapshot)
            AND transaction < pg_snapshot_xmax(pg_current_snapshot())
            AND NOT pg_visible_in_snapshot(transaction, $2::pg_snapshot)
        )
    ) AS state (snapshot, server, at, changed)
    FULL JOIN (
      unnest($1::text[]) AS asked (hash)
      JOIN api_keys AS keys ON keys.hash = asked.hash JOIN accounts ON accounts.id = keys.account_id
    ) ON false`,
};

type StateRow = readonly [snapshot: string, server: string | null, at: number, changed: readonly string[]];
const STATE_COLUMNS = 4;

const SNAPSHOT = { name: 'current snapshot', text: 'SELECT pg_current_snapshot()::text' };

/** At most $2 changes of transactions that had ended at the snapshot $1. */
const DELETE_CHANGES = {
  name: 'access changes delete',
  text: `
    WITH deleted AS (
      DELETE FROM access_changes WHERE ctid = ANY(ARRAY(
        SELECT ctid FROM access_changes WHERE transaction < pg_snapshot_xmin($1::pg_snapshot)
        ORDER BY transaction LIMIT $2
      ))
      RETURNING 1
    )
    SELECT count(*)::integer FROM deleted`,
};

/**
 * A page is a range of the index by account and id. Active and disabled keys are few, so they are selected first, by
 * the index by account and end; OFFSET 0 keeps PostgreSQL from merging the two queries. The name is compared last.
 */
function searchOf({ accountId, states, at, name, limit, ...place }: KeySearch) {
  const isCurrent = states.every((state) => state === 'active' || state === 'disabled');
  const { isBack, position, beyond, direction, inOrder } = scanOf('DESC', place);
  const theirs = isCurrent
    ? `SELECT * FROM api_keys WHERE account_id = $1 AND ${HAS_NOT_ENDED} OFFSET 0`
    : 'SELECT * FROM api_keys WHERE account_id = $1';
  const values: unknown[] = [accountId, new Date(at), states, position ?? INT64_MAX, limit];
  const isNamed =
    name === undefined
      ? ''
      : `AND normalize(name, NFC) ILIKE $${values.push(`%${name.normalize('NFC').replace(/[\\%_]/g, '\\$&')}%`)}`;
  return {
    name: ['api keys search', isCurrent && 'current', isBack && 'back', name !== undefined && 'named']
      .filter((part) => part !== false)
      .join(' '),
    text: `
    SELECT ${keys.list()} FROM (${theirs}) AS theirs
    WHERE ${KEY_STATE} = ANY($3) AND id ${beyond} $4 ${isNamed}
    ORDER BY account_id ${direction}, id ${direction} LIMIT $5`,
    values,
    inOrder,
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
  /** The snapshot after which changes are kept, and when it was taken. */
  private kept: { readonly snapshot: string; readonly at: number } | undefined;

  /** @param clock only tests set it. */
  constructor(
    private readonly dataSource: DataSource,
    private readonly clock: { readonly now: () => number } = performance,
  ) {
    this.cache = new KeyCache((hashes, since) => this.lookUp(hashes, since));
  }

  async add(
    accountId: AccountId,
    at: Instant,
    decide: (state: KeyHolder) => MadeKey,
    within?: Transaction,
  ): Promise<ApiKey> {
    const work = async (manager: EntityManager) => {
      const { key, notice } = decide(await lockHolder(manager, { id: accountId }, at));
      const added = await insertKey(manager, key);
      await queueNotice(manager, notice);
      return added;
    };
    return inTransaction(this.dataSource, work, { within });
  }

  findByHash(hash: string): AccountKey | Promise<AccountKey | undefined> {
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
    const query = selectKeys(this.dataSource.manager)
      .where(`key.accountId = :accountId AND ${KEY_END} > :at AND key.revokedAt IS NULL`, {
        accountId,
        at: new Date(at),
      })
      .orderBy('key.id');
    return readFromDatabase(this.dataSource, () => query.getMany());
  }

  async listPast({ accountId, at, limit }: PastKeysQuery): Promise<readonly ApiKey[]> {
    const query = selectKeys(this.dataSource.manager)
      .where(`key.accountId = :accountId AND ${KEY_END} < 'infinity'`, { accountId })
      // A revoked key has ended even if `revoked_at` is in the future for this process's clock.
      .andWhere(`(${KEY_END} <= :at OR key.revokedAt IS NOT NULL)`, { at: new Date(at) })
      .orderBy(KEY_END, 'DESC')
      .addOrderBy('key.id', 'DESC')
      .limit(limit);
    return readFromDatabase(this.dataSource, () => query.getMany());
  }

  async search(query: KeySearch): Promise<readonly ApiKey[]> {
    const { values, inOrder, ...statement } = searchOf(query);
    return inOrder(keys.fromRows(await readPrepared(this.dataSource, statement, values)));
  }

  async purge(endedUntil: Instant): Promise<number> {
    await this.purgeChanges();
    // In small portions, because each deleted key deletes its usage too.
    return deletePortions(this.dataSource, { table: 'api_keys', time: KEY_END, most: 100 }, endedUntil);
  }

  async change(id: ApiKeyId, decide: (state: KeyToChange) => ApiKey): Promise<ApiKey> {
    return inTransaction(this.dataSource, async (manager) => {
      const account = await findLocked(manager, { id: accountOf('api_keys', 'id', id) });
      const [key] = await lockKeys(manager, { id });
      return updateKey(manager, key, decide({ account, key }));
    });
  }

  async replace(
    id: ApiKeyId,
    at: Instant,
    decide: (state: RotationState) => RotatedKey,
    within?: Transaction,
  ): Promise<StoredRotation> {
    const work = async (manager: EntityManager) => {
      const holder = await lockHolder(manager, { id: accountOf('api_keys', 'id', id) }, at);
      const [key] = await lockKeys(manager, { id });
      const { old, replacement, notice } = decide({ ...holder, old: key });
      const added = await insertKey(manager, replacement);
      await queueNotice(manager, notice);
      return { old: await updateKey(manager, key, { ...old, replacedBy: added.id }), replacement: added };
    };
    return inTransaction(this.dataSource, work, { within });
  }

  async rollBack(id: ApiKeyId, decide: (state: UnseenKey) => RolledBackKey): Promise<void> {
    await inTransaction(this.dataSource, async (manager) => {
      const found = await lockKeys(manager, { id }, { replacedBy: id });
      const stored = found.find((each) => each.id === id);
      const storedReplaced = found.find((each) => each.replacedBy === id);
      const { key, replaced } = decide({ key: stored, replaced: storedReplaced });
      await updateKey(manager, stored, key);
      if (replaced !== undefined) await updateKey(manager, storedReplaced, replaced);
    });
  }

  async listOperations(ids: readonly ApiKeyId[]): Promise<ReadonlyMap<ApiKeyId, readonly OperationUse[]>> {
    const rows = await readPrepared<[ApiKeyId, string, Date]>(this.dataSource, OPERATIONS, [ids]);
    const called = new Map<ApiKeyId, OperationUse[]>();
    for (const [id, operation, at] of rows) {
      const uses = called.get(id) ?? [];
      called.set(id, uses);
      uses.push({ operation, lastUsedAt: instant(at.getTime()) });
    }
    return called;
  }

  /** Deletes the changes that every process with a cache has seen, because they had ended at an earlier purge. */
  private async purgeChanges(): Promise<void> {
    const { kept } = this;
    if (kept !== undefined) {
      if (this.clock.now() < kept.at + 2 * MOST_PAUSE) return;
      await inPortions(async (most) => {
        const [row] = await queryPrepared<[number]>(this.dataSource, DELETE_CHANGES, [kept.snapshot, most]);
        return row?.[0] ?? 0;
      });
    }
    const [row] = await readPrepared<[string]>(this.dataSource, SNAPSHOT, []);
    if (row !== undefined) this.kept = { snapshot: row[0], at: this.clock.now() };
  }

  private async lookUp(hashes: readonly string[], since: string | undefined): Promise<KeysFound> {
    const rows = await lookUpPrepared(this.dataSource, LOOK_UP, [hashes, since]);
    const found = rows.filter(([snapshot]) => snapshot === null);
    const [snapshot, server, at, changed] = rows.find((row) => row[0] !== null) as StateRow;
    const owners = accounts.fromRows(found, STATE_COLUMNS + keys.count);
    const byHash = new Map<string, AccountKey>();
    keys.fromRows(found, STATE_COLUMNS).forEach((key, index) => {
      const owner = owners[index];
      if (owner !== undefined) byHash.set(key.hash, { key, account: accountFrom(owner) });
    });
    return {
      state: server === null ? undefined : { snapshot, server, at },
      changed: new Set(changed.map((id) => BigInt(id) as AccountId)),
      keys: hashes.map((hash) => byHash.get(hash)),
    };
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

/** Locks the account's row, so that no other key is added meanwhile, and then counts its keys. */
async function lockHolder(
  manager: EntityManager,
  where: FindOptionsWhere<AccountRow>,
  at: Instant,
): Promise<KeyHolder> {
  const account = await findLocked(manager, where);
  if (account === undefined) return { account, activeKeys: 0, madeToday: 0 };
  const values = [account.id, new Date(at), new Date(startOf(DAY, at))];
  const [counts] = await manager.query<[Omit<KeyHolder, 'account'>]>(COUNT_KEYS, values);
  return { account, ...counts };
}

/** Locks the keys in the order of their ids, as every transaction that locks several keys must, against deadlocks. */
async function lockKeys(
  manager: EntityManager,
  ...where: readonly FindOptionsWhere<ApiKeyRow>[]
): Promise<readonly ApiKey[]> {
  return manager.find(apiKeySchema, { where: [...where], order: { id: 'ASC' }, lock: { mode: 'for_no_key_update' } });
}

/** Stores what may change of a key, whose row is locked. Returns the key as it is then stored. */
async function updateKey(
  manager: EntityManager,
  stored: ApiKey | undefined,
  { id, name, expiresAt, revokedAt, disabledAt, replacedBy }: ApiKey,
): Promise<ApiKey> {
  if (stored?.id !== id) throw new Error(`the decision was not on the API key ${id}`);
  const change = {
    name: name ?? NULL,
    expiresAt: expiresAt ?? NULL,
    revokedAt: revokedAt ?? NULL,
    disabledAt: disabledAt ?? NULL,
    replacedBy: replacedBy ?? NULL,
  };
  await manager.update(apiKeySchema, { id }, change);
  return { ...stored, name, expiresAt, revokedAt, disabledAt, replacedBy };
}

async function insertKey(manager: EntityManager, key: NewApiKey): Promise<ApiKey> {
  const { identifiers } = await manager.insert(apiKeySchema, { ...key });
  const id = BigInt(identifiers[0]?.['id'] as string) as ApiKeyId;
  return { ...key, id, revokedAt: undefined, disabledAt: undefined, replacedBy: undefined, lastUsedAt: undefined };
}
