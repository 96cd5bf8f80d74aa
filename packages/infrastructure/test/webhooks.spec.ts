import { randomUUID } from 'node:crypto';
import { MINUTE, newWebhookId, PLANS, type Ports, type StoredWebhook, type WebhookId } from '@adoption-store/domain';
import { byOperator, webhookQueueSuite, webhookRepositorySuite } from '@adoption-store/domain/testing';
import { ask, createDatabase, type TestDatabase } from '@adoption-store/test-support';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
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
