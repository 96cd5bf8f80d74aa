import type {
  AccountId,
  AccountRequest,
  OwnWebhook,
  StoredWebhook,
  Transaction,
  Webhook,
  WebhookCommand,
  WebhookHolder,
  WebhookId,
  WebhookRepository,
  WebhookState,
} from '@adoption-store/domain';
import type { DataSource, EntityManager } from 'typeorm';
import { lockAuthority } from '../accounts/account-queries.js';
import { readFromDatabase } from '../database/on-database.js';
import { inTransaction } from '../database/transactions.js';
import { DELETE_WEBHOOK, FOLLOW_FROM_NOW, KEEP_UNTAKEN } from './following.js';
import type { LazyCipher } from './secret-cipher.js';
import { encrypted, fieldsOf, secretsFrom, webhookFrom, type WebhookRow, webhookSchema } from './webhook.schema.js';

/** The next turn is due as soon as the one under way ends, and the address or status begins without failures. */
const ANEW = {
  turnAt: () => 'greatest(busy_until, now())',
  pausedUntil: () => "'-infinity'",
  failedTurns: 0,
  failingSince: () => 'NULL',
};

export class TypeOrmWebhookRepository implements WebhookRepository {
  constructor(
    private readonly dataSource: DataSource,
    private readonly cipher: LazyCipher,
  ) {}

  async add(request: AccountRequest, decide: (state: WebhookHolder) => StoredWebhook): Promise<Webhook> {
    const cipher = await this.cipher.get();
    return inTransaction(this.dataSource, async (manager) => {
      const authority = await lockAuthority(manager, request);
      const webhooks = await manager.countBy(webhookSchema, { accountId: request.accountId });
      const { secrets, ...webhook } = decide({ ...authority, webhooks });
      await manager.insert(webhookSchema, { ...fieldsOf(webhook), ...encrypted(webhook.id, secrets, cipher) });
      return webhook;
    });
  }

  async findById(accountId: AccountId, id: WebhookId): Promise<Webhook | undefined> {
    const { manager } = this.dataSource;
    const row = await readFromDatabase(this.dataSource, () => find(manager, { accountId, id }));
    return row && webhookFrom(row);
  }

  async list(accountId: AccountId): Promise<readonly Webhook[]> {
    const rows = await readFromDatabase(this.dataSource, () =>
      this.dataSource.manager.find(webhookSchema, { where: { accountId }, order: { createdAt: 'ASC', id: 'ASC' } }),
    );
    return rows.map(webhookFrom);
  }

  async change(
    command: WebhookCommand,
    decide: (state: WebhookState<StoredWebhook>) => StoredWebhook,
  ): Promise<Webhook> {
    const cipher = await this.cipher.get();
    return inTransaction(this.dataSource, async (manager) => {
      const authority = await lockAuthority(manager, command);
      const row = await find(manager, command, 'for_no_key_update');
      const stored = row && { ...webhookFrom(row), secrets: secretsFrom(row, cipher) };
      const { secrets, ...webhook } = decide({ ...authority, webhook: stored });
      const isOtherStatus = webhook.status !== stored?.status;
      await manager.update(
        webhookSchema,
        { id: webhook.id },
        {
          ...fieldsOf(webhook),
          // With the first secret of WEBHOOK_SECRET, so that the one before can be dropped some day.
          ...encrypted(webhook.id, secrets, cipher),
          ...((isOtherStatus || webhook.url !== stored.url) && ANEW),
        },
      );
      if (isOtherStatus) {
        await manager.query(webhook.status === 'enabled' ? FOLLOW_FROM_NOW : KEEP_UNTAKEN, [webhook.id]);
      }
      return webhook;
    });
  }

  async remove(command: WebhookCommand, decide: (state: WebhookState) => void): Promise<void> {
    await inTransaction(this.dataSource, async (manager) => {
      decide(await lockState(manager, command, 'pessimistic_write'));
      await manager.query(DELETE_WEBHOOK, [command.id]);
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
