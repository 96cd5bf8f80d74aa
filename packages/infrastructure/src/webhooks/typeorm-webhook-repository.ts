import type {
  AccountId,
  StoredWebhook,
  Transaction,
  Webhook,
  WebhookHolder,
  WebhookId,
  WebhookRepository,
} from '@adoption-store/domain';
import type { DataSource, EntityManager } from 'typeorm';
import { lockAccount } from '../accounts/account-queries.js';
import { accountFrom } from '../accounts/account.schema.js';
import { readFromDatabase } from '../database/on-database.js';
import { inTransaction, managerOf } from '../database/transactions.js';
import type { Lazy } from '../kernel/lazy.js';
import type { SecretCipher } from './secret-cipher.js';
import { encrypted, fieldsOf, secretsFrom, webhookFrom, type WebhookRow, webhookSchema } from './webhook.schema.js';

/** Voids the running turn. The next one is due at once, and the address or status begins without failures. */
const ANEW = {
  turns: () => 'turns + 1',
  turnAt: () => 'now()',
  busyUntil: () => 'now()',
  failedTurns: 0,
  failingSince: () => 'NULL',
};

export class TypeOrmWebhookRepository implements WebhookRepository {
  constructor(
    private readonly dataSource: DataSource,
    private readonly cipher: Lazy<SecretCipher>,
  ) {}

  async add(accountId: AccountId, decide: (state: WebhookHolder) => StoredWebhook): Promise<Webhook> {
    const cipher = await this.cipher.get();
    return inTransaction(this.dataSource, async (manager) => {
      const row = await lockAccount(manager, { id: accountId });
      const account = row === null ? undefined : accountFrom(row);
      const { secrets, ...webhook } = decide({
        account,
        webhooks: await manager.countBy(webhookSchema, { accountId }),
      });
      await manager.insert(webhookSchema, { ...fieldsOf(webhook), ...encrypted(webhook.id, secrets, cipher) });
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
    decide: (webhook: StoredWebhook | undefined) => StoredWebhook,
  ): Promise<Webhook> {
    const cipher = await this.cipher.get();
    return inTransaction(this.dataSource, async (manager) => {
      const stored = storedFrom(await find(manager, accountId, id, 'for_no_key_update'), cipher);
      const { secrets, ...webhook } = decide(stored);
      await manager.update(
        webhookSchema,
        { id },
        {
          ...fieldsOf(webhook),
          // With the first secret of WEBHOOK_SECRET, so that the one before can be dropped some day.
          ...encrypted(id, secrets, cipher),
          ...((webhook.url !== stored?.url || webhook.status !== stored.status) && ANEW),
        },
      );
      return webhook;
    });
  }

  async remove(accountId: AccountId, id: WebhookId, decide: (webhook: Webhook | undefined) => void): Promise<void> {
    await inTransaction(this.dataSource, async (manager) => {
      const row = await find(manager, accountId, id, 'pessimistic_write');
      decide(row === null ? undefined : webhookFrom(row));
      await manager.delete(webhookSchema, { id });
    });
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

function storedFrom(row: WebhookRow | null, cipher: SecretCipher): StoredWebhook | undefined {
  if (row === null) return undefined;
  const secrets = secretsFrom(row, cipher);
  if (secrets === undefined) throw new Error('WEBHOOK_SECRET lacks the secret that has encrypted a webhook');
  return { ...webhookFrom(row), secrets };
}
