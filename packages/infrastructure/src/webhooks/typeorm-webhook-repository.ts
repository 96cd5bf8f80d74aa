import {
  type AccountId,
  type AccountRequest,
  type AccountWebhook,
  decideSwitch,
  type Instant,
  type NewWebhook,
  type OwnWebhook,
  type ReencryptedPart,
  type SecretCounts,
  type SecretRotation,
  type SecretRotationState,
  type Transaction,
  type Webhook,
  type WebhookCommand,
  type WebhookHolder,
  type WebhookId,
  type WebhookPart,
  type WebhookQuery,
  type WebhookRepository,
  type WebhookState,
  type WebhookWithFailures,
} from '@adoption-store/domain';
import { type DataSource, type EntityManager, MoreThan } from 'typeorm';
import { lockAuthority } from '../accounts/account-queries.js';
import { readFromDatabase } from '../database/on-database.js';
import { inTransaction, writeToDatabase } from '../database/transactions.js';
import type { Lazy } from '../kernel/lazy.js';
import type { SecretCipher } from './secret-cipher.js';
import { readFollower } from './stored-follower.js';
import { isStored, reencrypted, rotated } from './stored-secrets.js';
import { wakeReceiver } from './untaken-events.js';
import {
  accountWebhookFrom,
  fieldsOf,
  webhookFrom,
  type WebhookRow,
  webhookSchema,
  withFailures,
} from './webhook.schema.js';

/** Set if the URL or the status changes. */
const WITHOUT_FAILURES = { failedRounds: 0, failingSince: () => 'NULL' };

/** Deletes the webhook. The worker deletes its deliveries later, in portions, because there may be millions. */
const DELETE = `
  WITH gone AS (DELETE FROM webhooks WHERE id = $1 RETURNING id)
  INSERT INTO deleted_webhooks (id) SELECT id FROM gone`;

/** Counts webhooks by the keys of all their secrets. */
const COUNT_BY_KEYS = `
  SELECT jsonb_build_array(secret_key) || jsonb_path_query_array(past_secrets, '$[*].key') AS keys,
    count(*)::integer AS webhooks
  FROM webhooks GROUP BY 1`;

export class TypeOrmWebhookRepository implements WebhookRepository {
  constructor(
    private readonly dataSource: DataSource,
    private readonly cipher: Lazy<SecretCipher>,
  ) {}

  async add(request: AccountRequest, decide: (state: WebhookHolder) => NewWebhook): Promise<Webhook> {
    const cipher = await this.cipher.get();
    return inTransaction(this.dataSource, async (manager) => {
      const authority = await lockAuthority(manager, request);
      const webhooks = await manager.countBy(webhookSchema, { accountId: request.accountId });
      const { secret, ...webhook } = decide({ ...authority, webhooks });
      const encrypted = cipher.encrypt(secret, webhook.id);
      await manager.insert(webhookSchema, {
        ...fieldsOf(webhook),
        secret: encrypted.secret,
        secretKey: encrypted.key,
      });
      return webhook;
    });
  }

  async findById(accountId: AccountId, id: WebhookId): Promise<WebhookWithFailures | undefined> {
    const { manager } = this.dataSource;
    const row = await readFromDatabase(this.dataSource, () => find(manager, { accountId, id }));
    return row && withFailures(row);
  }

  async list(accountId: AccountId): Promise<readonly WebhookWithFailures[]> {
    const rows = await readFromDatabase(this.dataSource, () =>
      this.dataSource.manager.find(webhookSchema, { where: { accountId }, order: { createdAt: 'ASC', id: 'ASC' } }),
    );
    return rows.map(withFailures);
  }

  async change(command: WebhookCommand, decide: (state: WebhookState) => Webhook): Promise<Webhook> {
    return inTransaction(this.dataSource, async (manager, transaction) => {
      const state = await lockState(manager, command, 'for_no_key_update');
      const webhook = decide(state);
      const { id, url, status } = webhook;
      const switched = status === state.webhook?.status ? undefined : await this.switched(webhook, transaction);
      const isAnew = switched !== undefined || url !== state.webhook?.url;
      await manager.update(
        webhookSchema,
        { id },
        { ...fieldsOf(webhook), ...(isAnew && WITHOUT_FAILURES), ...switched },
      );
      if (isAnew) await wakeReceiver(manager, id);
      return webhook;
    });
  }

  async rotate(command: WebhookCommand, decide: (state: SecretRotationState) => SecretRotation): Promise<Webhook> {
    const cipher = await this.cipher.get();
    return inTransaction(this.dataSource, async (manager) => {
      const authority = await lockAuthority(manager, command);
      const row = await find(manager, command, 'for_no_key_update');
      const past = row === undefined ? [] : row.pastSecrets.map(({ until }) => ({ until }));
      const rotation = decide({ ...authority, webhook: row && webhookFrom(row), past });
      if (row === undefined) throw new Error('it was decided on nothing');
      const { id, updatedAt } = rotation.webhook;
      await manager.update(webhookSchema, { id }, { updatedAt, ...rotated(row, rotation, cipher) });
      return rotation.webhook;
    });
  }

  async delete(command: WebhookCommand, decide: (state: WebhookState) => void): Promise<void> {
    await inTransaction(this.dataSource, async (manager) => {
      decide(await lockState(manager, command, 'pessimistic_write'));
      await manager.query(DELETE, [command.id]);
    });
  }

  async lock<Result>(
    command: WebhookCommand,
    work: (state: WebhookState, transaction: Transaction) => Promise<Result>,
    within?: Transaction,
  ): Promise<Result> {
    return inTransaction(
      this.dataSource,
      async (manager, transaction) => work(await lockState(manager, command, 'for_no_key_update'), transaction),
      { within },
    );
  }

  async findOwner(id: WebhookId): Promise<AccountId | undefined> {
    if (id.includes('\0')) return undefined;
    const row = await readFromDatabase(this.dataSource, () =>
      this.dataSource.manager.findOne(webhookSchema, { select: { accountId: true }, where: { id } }),
    );
    return row?.accountId;
  }

  async listAll({ accountId, after = '' as WebhookId, limit }: WebhookQuery): Promise<readonly AccountWebhook[]> {
    const query = this.dataSource.manager
      .createQueryBuilder(webhookSchema, 'webhook')
      .innerJoinAndSelect('webhook.account', 'account')
      .where('webhook.id > :after', { after })
      .orderBy('webhook.id')
      .limit(limit);
    if (accountId !== undefined) query.andWhere('webhook.accountId = :accountId', { accountId });
    const rows = await readFromDatabase(this.dataSource, () => query.getMany());
    return rows.flatMap(accountWebhookFrom);
  }

  async reencrypt({ after = '' as WebhookId, limit }: WebhookPart, now: Instant): Promise<ReencryptedPart> {
    const cipher = await this.cipher.get();
    const rows = await readFromDatabase(this.dataSource, () =>
      this.dataSource.manager.find(webhookSchema, {
        where: { id: MoreThan(after) },
        order: { id: 'ASC' },
        take: limit,
      }),
    );
    const unreadable: Pick<Webhook, 'id' | 'status'>[] = [];
    for (const row of rows) {
      const columns = reencrypted(row, now, cipher);
      if (columns === undefined) unreadable.push({ id: row.id, status: row.status });
      else if (!isStored(row, columns)) await this.replaceSecrets(row, columns);
    }
    return { last: rows.at(-1)?.id, unreadable };
  }

  async countSecrets(): Promise<SecretCounts> {
    const { names } = await this.cipher.get();
    const groups = await readFromDatabase(this.dataSource, () =>
      this.dataSource.manager.query<{ keys: string[]; webhooks: number }[]>(COUNT_BY_KEYS),
    );
    const counts = { first: 0, older: 0, unknown: 0 };
    for (const { keys, webhooks } of groups) {
      const places = keys.map((key) => names.indexOf(key));
      if (places.includes(-1)) counts.unknown += webhooks;
      else if (places.every((place) => place === 0)) counts.first += webhooks;
      else counts.older += webhooks;
    }
    return counts;
  }

  /** The columns of a webhook that is locked, and will be enabled or disabled. */
  private async switched({ id, status }: Webhook, transaction: Transaction) {
    const follower = await readFollower(this.dataSource, id, transaction);
    const change = decideSwitch(follower, status, follower);
    return 'recovery' in change
      ? { recoveryPosition: change.recovery.after ?? null, recoveryEnd: change.recovery.end }
      : { feedPosition: change.position, followsSince: change.followsSince };
  }

  /** Only if the current secret is still the one that was read. Every rotation changes it, so none is overwritten. */
  private async replaceSecrets({ id, secret }: WebhookRow, columns: ReturnType<typeof rotated>): Promise<void> {
    await writeToDatabase(this.dataSource, (manager) => manager.update(webhookSchema, { id, secret }, columns));
  }
}

type LockMode = 'for_no_key_update' | 'pessimistic_write';

async function lockState(manager: EntityManager, command: WebhookCommand, mode: LockMode): Promise<WebhookState> {
  const authority = await lockAuthority(manager, command);
  const row = await find(manager, command, mode);
  return { ...authority, webhook: row && webhookFrom(row) };
}

/** @param mode locks the row. */
async function find(
  manager: EntityManager,
  { accountId, id }: OwnWebhook,
  mode?: LockMode,
): Promise<WebhookRow | undefined> {
  // PostgreSQL's text can't contain U+0000, so no id has it.
  if (id.includes('\0')) return undefined;
  const where = { accountId, id: id as WebhookId };
  return (await manager.findOne(webhookSchema, { where, ...(mode && { lock: { mode } }) })) ?? undefined;
}
