import { randomUUID } from 'node:crypto';
import {
  type Application,
  createApplication,
  instant,
  MINUTE,
  newWebhookId,
  PLANS,
  type Ports,
  type StoredWebhook,
  type WebhookId,
} from '@adoption-store/domain';
import {
  accountMailPages,
  byOperator,
  InMemoryAccountMailSender,
  InMemoryWebhookSender,
  PredictablePasswordHasher,
  webhookQueueSuite,
  webhookRepositorySuite,
} from '@adoption-store/domain/testing';
import { ask, createDatabase, type TestDatabase } from '@adoption-store/test-support';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { openInfrastructure } from '../src/open-infrastructure.js';
import { openPostgres } from './databases.js';
import { framework } from './framework.js';

webhookRepositorySuite(framework, 'PostgreSQL', openPostgres);
webhookQueueSuite(framework, 'PostgreSQL', openPostgres);

describe('the secrets of webhooks in PostgreSQL', () => {
  let database: TestDatabase;
  const closers: (() => Promise<void>)[] = [];
  beforeEach(async () => {
    database = await createDatabase();
    closers.push(() => database.drop());
  });
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
  });

  async function open(webhookSecrets?: readonly string[]): Promise<Ports> {
    const { ports, close } = await openInfrastructure({ databaseUrl: database.url, poolSize: 2, webhookSecrets });
    closers.push(close);
    return ports;
  }
  const at = { createdAt: 0 as StoredWebhook['createdAt'], updatedAt: 0 as StoredWebhook['updatedAt'] };
  async function add({ accounts, webhooks, cryptography }: Ports, secret: string): Promise<StoredWebhook> {
    const account = {
      email: `${randomUUID()}@example.com`,
      plan: PLANS.free,
      scopes: undefined,
      createdAt: at.createdAt,
    };
    const { id: accountId } = await accounts.open(account);
    const fields = { types: undefined, description: undefined, status: 'enabled', ...at } as const;
    const id = newWebhookId(cryptography);
    const webhook = { id, accountId, url: 'https://example.com', ...fields, secrets: { current: secret } };
    await webhooks.add(byOperator({ accountId }), () => webhook);
    return webhook;
  }
  /** The secret as a worker signs with it. */
  async function secretOf({ webhookDeliveries }: Ports, id: WebhookId): Promise<string | undefined> {
    await webhookDeliveries.ping(id, at.createdAt);
    const claim = { limit: 1, lease: MINUTE };
    try {
      return (await webhookDeliveries.claim(claim))[0]?.receiver.secrets.current;
    } finally {
      await ask(database.url, 'UPDATE webhooks SET turn_at = now(), busy_until = now()');
    }
  }
  const [old, next] = ['o'.repeat(32), 'n'.repeat(32)];

  it('are encrypted, each for its own row', async () => {
    const ports = await open();
    const [one, other] = [await add(ports, 'whsec_one'), await add(ports, 'whsec_one')];
    const stored = await ask<{ secret: string }>(database.url, 'SELECT secret FROM webhooks');
    expect(new Set(stored.map(({ secret }) => secret)).size).toBe(2);
    expect(JSON.stringify(await ask(database.url, 'SELECT * FROM webhooks'))).not.toContain('whsec_');
    expect(await secretOf(ports, one.id)).toBe('whsec_one');
    // Every process finds the same key in the database.
    expect(await secretOf(await open(), one.id)).toBe('whsec_one');
    await ask(database.url, `UPDATE webhooks SET secret = (SELECT secret FROM webhooks WHERE id = '${other.id}')`);
    await expect(secretOf(ports, one.id)).rejects.toThrow('WEBHOOK_SECRET lacks the secret');
  });

  it('are read with every secret of the list, and encrypted with the first one by the next change', async () => {
    const { id, accountId } = await add(await open([old]), 'whsec_one');
    const ports = await open([next, old]);
    expect(await secretOf(ports, id)).toBe('whsec_one');
    await expect(secretOf(await open([next]), id)).rejects.toThrow('WEBHOOK_SECRET lacks the secret');
    await ports.webhooks.change(byOperator({ accountId, id }), ({ webhook }) => {
      if (webhook === undefined) throw new Error('it is gone');
      return { ...webhook, description: 'new' };
    });
    expect(await secretOf(await open([next]), id)).toBe('whsec_one');
  });
});

describe('a webhook in PostgreSQL', () => {
  let opened: Awaited<ReturnType<typeof openPostgres>>;
  let application: Application;
  const mailer = new InMemoryAccountMailSender();
  beforeAll(async () => {
    opened = await openPostgres();
    const doubles = { webhookSender: new InMemoryWebhookSender(), passwordHasher: new PredictablePasswordHasher() };
    const ports = { ...opened.ports, ...doubles, accountMailSender: mailer };
    application = createApplication(ports, { accountMailPages });
  });
  afterAll(() => opened.close());

  const url = 'https://hooks.example.com';
  const password = 'a horse, a battery';
  const create = async () => {
    const email = `${randomUUID()}@example.com`;
    const { id: accountId } = await application.signUp.execute({ email, password });
    const { webhook } = await application.createWebhook.execute(byOperator({ accountId, url }));
    return { email, webhook: byOperator(webhook) };
  };

  it('leaves a note of its id once it is deleted, with its account, by the owner’s first proof, or alone', async () => {
    const [alone, closed, taken] = [await create(), await create(), await create()];
    await application.deleteWebhook.execute(alone.webhook);
    await application.closeAccount.execute({ accountId: closed.webhook.accountId, password });
    await application.requestPasswordReset.execute(taken);
    await application.deliverAccountMails.execute();
    const token = mailer.to(taken.email, 'reset')[0]?.token ?? '';
    await application.resetPassword.execute({ token, password: 'a staple, correctly' });
    const notes = await ask<{ id: string }>(opened.url, 'SELECT id FROM deleted_webhooks');
    const ids = [alone, closed, taken].map(({ webhook }) => webhook.id);
    expect(notes.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
  });

  it('that is disabled keeps what it has not been sent yet, and follows the feed from its end once it is enabled', async () => {
    const { webhook } = await create();
    const end = async () => (await ask<{ end: string }>(opened.url, 'SELECT event_feed_end() AS "end"'))[0]?.end;
    const happen = async () => {
      await application.addAnimal.execute({ name: 'Luna', categoryId: 1n });
      await application.publishEvents.execute();
      return end();
    };
    const set = async (status: 'enabled' | 'disabled') => {
      await application.changeWebhook.execute({ ...webhook, change: { status } });
      const columns = 'position, recovery_position AS after, recovery_end AS until, follows_since AS since';
      const [places] = await ask<{ since: Date }>(opened.url, `SELECT ${columns} FROM webhooks WHERE id = $1`, [
        webhook.id,
      ]);
      if (places === undefined) throw new Error('the webhook is gone');
      return places;
    };
    const created = await end();
    const first = await happen();
    const disabled = await set('disabled');
    expect(disabled).toMatchObject({ position: created, after: created, until: first });
    const second = await happen();
    const enabled = await set('enabled');
    expect(enabled).toMatchObject({ position: second, after: created, until: first });
    expect(enabled.since > disabled.since).toBe(true);
    expect(await set('disabled')).toMatchObject({ position: second, after: created, until: first });
    await set('enabled');
    await application.recoverDeliveries.execute({ ...webhook, since: instant(0) });
    const third = await happen();
    expect(await set('disabled')).toMatchObject({ position: second, after: null, until: third });
  });
});
