import type {
  AccountId,
  AccountWebhook,
  Instant,
  NewWebhook,
  ReencryptedPart,
  SecretCounts,
  SecretRotation,
  SecretRotationState,
  Transaction,
  Webhook,
  WebhookHolder,
  WebhookId,
  WebhookPart,
  WebhookQuery,
  WebhookRepository,
} from '@adoption-store/domain';
import { type DataSource, type EntityManager, MoreThan } from 'typeorm';
import { lockAccount } from '../accounts/account-queries.js';
import { accountFrom } from '../accounts/account.schema.js';
import { readFromDatabase } from '../database/on-database.js';
import { inTransaction, managerOf, writeToDatabase } from '../database/transactions.js';
import type { Lazy } from '../kernel/lazy.js';
import type { SecretCipher } from './secret-cipher.js';
import { isStored, pastOf, reencrypted, rotated } from './stored-secrets.js';
import { accountWebhookFrom, fieldsOf, webhookFrom, type WebhookRow, webhookSchema } from './webhook.schema.js';

/** Voids the running turn. The next one is due at once, and the address or status begins without failures. */
const ANEW = {
  turns: () => 'turns + 1',
  turnAt: () => 'now()',
  busyUntil: () => 'now()',
  failedTurns: 0,
  failingSince: () => 'NULL',
};

/** The webhooks by the keys of their current secret, of those that were replaced, and of what the version before has stored. */
const COUNT_BY_KEYS = `
  SELECT jsonb_build_array(secret_key) || jsonb_path_query_array(past_secrets, '$[*].key')
    || CASE WHEN previous_secret IS NULL THEN '[]'::jsonb ELSE '[null]'::jsonb END AS keys, count(*)::integer AS webhooks
  FROM webhooks GROUP BY 1`;

export class TypeOrmWebhookRepository implements WebhookRepository {
  constructor(
    private readonly dataSource: DataSource,
    private readonly cipher: Lazy<SecretCipher>,
  ) {}

  async add(accountId: AccountId, decide: (state: WebhookHolder) => NewWebhook): Promise<Webhook> {
    const cipher = await this.cipher.get();
    return inTransaction(this.dataSource, async (manager) => {
      const row = await lockAccount(manager, { id: accountId });
      const account = row === null ? undefined : accountFrom(row);
      const { secret, ...webhook } = decide({
        account,
        webhooks: await manager.countBy(webhookSchema, { accountId }),
      });
      const encrypted = cipher.encrypt(secret, webhook.id);
      await manager.insert(webhookSchema, {
        ...fieldsOf(webhook),
        secret: encrypted.secret,
        secretKey: encrypted.key,
      });
      return webhook;
    });
  }

  async findById(accountId: AccountId, id: WebhookId, transaction?: Transaction): Promise<Webhook | undefined> {
    const read = () => find(managerOf(this.dataSource, transaction), accountId, id);
    const row = await (transaction === undefined ? readFromDatabase(this.dataSource, read) : read());
    return row === null ? undefined : webhookFrom(row);
  }

  async list(accountId: AccountId): Promise<readonly Webhook[]> {
    const rows = await readFromDatabase(this.dataSource, () =>
      this.dataSource.manager.find(webhookSchema, { where: { accountId }, order: { createdAt: 'ASC', id: 'ASC' } }),
    );
    return rows.map(webhookFrom);
  }

  async change(
    accountId: AccountId,
    id: WebhookId,
    decide: (webhook: Webhook | undefined) => Webhook,
  ): Promise<Webhook> {
    return inTransaction(this.dataSource, async (manager) => {
      const row = await find(manager, accountId, id, 'for_no_key_update');
      const webhook = decide(row === null ? undefined : webhookFrom(row));
      const isAnew = webhook.url !== row?.url || webhook.status !== row.status;
      await manager.update(webhookSchema, { id }, { ...fieldsOf(webhook), ...(isAnew && ANEW) });
      return webhook;
    });
  }

  async rotate(
    accountId: AccountId,
    id: WebhookId,
    decide: (state: SecretRotationState | undefined) => SecretRotation,
  ): Promise<Webhook> {
    const cipher = await this.cipher.get();
    return inTransaction(this.dataSource, async (manager) => {
      const row = await find(manager, accountId, id, 'for_no_key_update');
      const rotation = decide(row === null ? undefined : rotationStateOf(row));
      if (row === null) throw new Error('it was decided on nothing');
      const { updatedAt } = rotation.webhook;
      await manager.update(webhookSchema, { id }, { updatedAt, ...rotated(row, rotation, cipher) });
      return rotation.webhook;
    });
  }

  async remove(accountId: AccountId, id: WebhookId, decide: (webhook: Webhook | undefined) => void): Promise<void> {
    await inTransaction(this.dataSource, async (manager) => {
      const row = await find(manager, accountId, id, 'pessimistic_write');
      decide(row === null ? undefined : webhookFrom(row));
      await manager.delete(webhookSchema, { id });
    });
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
      this.dataSource.manager.query<{ keys: (string | null)[]; webhooks: number }[]>(COUNT_BY_KEYS),
    );
    const counts = { first: 0, older: 0, unknown: 0 };
    for (const { keys, webhooks } of groups) {
      const places = keys.map((key) => (key === null ? -1 : names.indexOf(key)));
      if (places.includes(-1)) counts.unknown += webhooks;
      else if (places.every((place) => place === 0)) counts.first += webhooks;
      else counts.older += webhooks;
    }
    return counts;
  }

  /** Everything else that replaces a secret changes the current one, so nothing of it is lost. */
  private async replaceSecrets({ id, secret }: WebhookRow, columns: ReturnType<typeof rotated>): Promise<void> {
    await writeToDatabase(this.dataSource, (manager) => manager.update(webhookSchema, { id, secret }, columns));
  }
}

/** @param mode locks the row. */
async function find(
  manager: EntityManager,
  accountId: AccountId,
  id: WebhookId,
  mode?: 'for_no_key_update' | 'pessimistic_write',
): Promise<WebhookRow | null> {
  // PostgreSQL's text can't contain U+0000, so no id has it.
  if (id.includes('\0')) return null;
  return manager.findOne(webhookSchema, { where: { accountId, id }, ...(mode && { lock: { mode } }) });
}

function rotationStateOf(row: WebhookRow): SecretRotationState {
  return { webhook: webhookFrom(row), past: pastOf(row).map(({ until }) => ({ until })) };
}
