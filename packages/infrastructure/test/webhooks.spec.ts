import {
  decideSecretRotation,
  HOUR,
  instant,
  type Instant,
  MINUTE,
  newWebhookId,
  type Ports,
  type Webhook,
  type WebhookId,
} from '@adoption-store/domain';
import { byOperator, webhookQueueSuite, webhookRepositorySuite, testPolicy } from '@adoption-store/domain/testing';
import { ask, createDatabase, type TestDatabase } from '@adoption-store/test-support';
import { beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { openInfrastructure } from '../src/open-infrastructure.js';
import { SecretCipher } from '../src/webhooks/secret-cipher.js';
import { closedAfterEach, openAccount, openPostgres, untilBlocked } from './databases.js';
import { framework } from './framework.js';

webhookRepositorySuite(framework, 'PostgreSQL', openPostgres);
webhookQueueSuite(framework, 'PostgreSQL', openPostgres);

describe('webhooks in PostgreSQL', () => {
  let database: TestDatabase;
  const closers = closedAfterEach();
  beforeEach(async () => {
    database = await createDatabase();
    closers.push(() => database.drop());
  });

  async function open(webhookSecrets?: readonly string[]): Promise<Ports> {
    const { ports, close } = await openInfrastructure({
      policy: testPolicy(),
      databaseUrl: database.url,
      poolSize: 2,
      webhookSecrets,
    });
    closers.push(close);
    return ports;
  }
  const at = { createdAt: 0 as Instant, updatedAt: 0 as Instant };
  async function add({ accounts, webhooks, cryptography }: Ports, secret: string): Promise<Webhook> {
    const accountId = await openAccount({ accounts });
    const fields = { types: undefined, description: undefined, status: 'enabled', ...at } as const;
    const id = newWebhookId(cryptography);
    const webhook = { id, accountId, url: 'https://example.com', recoveringSince: undefined, ...fields, secret };
    return webhooks.add(byOperator({ accountId }), () => webhook);
  }
  /** The secrets with which a worker signs. */
  async function secretsOf(ports: Ports, id: WebhookId): Promise<readonly string[] | undefined> {
    await ports.webhookDeliveries.ping(id, at.createdAt);
    try {
      const secrets = (await takeRound(ports))?.secrets;
      return secrets && [secrets.current, ...secrets.past.map(({ secret }) => secret)];
    } finally {
      await ask(
        database.url,
        "DELETE FROM webhook_deliveries; UPDATE webhooks SET turn_at = 'infinity', busy_until = now()",
      );
    }
  }
  const takeRound = ({ webhookQueue }: Ports) => webhookQueue.takeRound({ limit: 20, lease: MINUTE });
  const rotate = ({ webhooks }: Ports, { accountId, id }: Webhook, secret: string, now = instant(HOUR)) => {
    const command = byOperator({ accountId, id });
    return webhooks.rotate(command, (state) => decideSecretRotation(state, { ...command, secret }, now));
  };
  const reencrypt = (ports: Ports, now = instant(HOUR)) =>
    ports.webhooks.reencrypt({ limit: 100, after: undefined }, now);
  const rowOf = async ({ id }: Webhook) =>
    (await ask<Record<string, unknown>>(database.url, `SELECT * FROM webhooks WHERE id = '${id}'`))[0];
  const [old, next] = ['o'.repeat(32), 'n'.repeat(32)];
  const [oldKey, nextKey] = [old, next].map((secret) => new SecretCipher([secret]).names[0]);

  it('take the round of an account without one, however many of another have been due for longer', async () => {
    const ports = await open();
    const [crowd, single] = [await add(ports, 'whsec_one'), await add(ports, 'whsec_two')];
    await ports.webhookDeliveries.ping(crowd.id, at.createdAt);
    expect((await takeRound(ports))?.receiver.id).toBe(crowd.id);
    await ports.webhookDeliveries.ping(single.id, at.createdAt);
    await ask(
      database.url,
      `INSERT INTO webhooks (id, account_id, url, status, secret, secret_key, created_at, updated_at, turn_at)
       SELECT 'whk_' || n, account_id, url, status, secret, secret_key, created_at, updated_at, now() - interval '1 hour'
       FROM webhooks, generate_series(1, 210) AS n WHERE id = '${crowd.id}'`,
    );
    expect((await takeRound(ports))?.receiver.id).toBe(single.id);
    // None of the others was claimed before and found to be without deliveries.
    expect(await ask(database.url, 'SELECT FROM webhooks WHERE turns > 0')).toHaveLength(2);
  });

  describe('the secrets', () => {
    it('are encrypted, each for its own row', async () => {
      const ports = await open();
      const [one, other] = [await add(ports, 'whsec_one'), await add(ports, 'whsec_one')];
      const stored = await ask<{ secret: string }>(database.url, 'SELECT secret FROM webhooks');
      expect(new Set(stored.map(({ secret }) => secret)).size).toBe(2);
      expect(JSON.stringify(await ask(database.url, 'SELECT * FROM webhooks'))).not.toContain('whsec_');
      expect(await secretsOf(ports, one.id)).toEqual(['whsec_one']);
      // Every process finds the same key in the database.
      expect(await secretsOf(await open(), one.id)).toEqual(['whsec_one']);
      await ask(database.url, `UPDATE webhooks SET secret = (SELECT secret FROM webhooks WHERE id = '${other.id}')`);
      expect(await secretsOf(ports, one.id)).toBeUndefined();
    });

    it('are read with every secret of the list, and encrypted with the first one by the worker', async () => {
      const before = await open([old]);
      const webhook = await add(before, 'whsec_one');
      await rotate(before, webhook, 'whsec_two');
      const ports = await open([next, old]);
      const alone = await open([next]);
      expect(await secretsOf(ports, webhook.id)).toEqual(['whsec_two', 'whsec_one']);
      expect(await secretsOf(alone, webhook.id)).toBeUndefined();
      expect(await reencrypt(ports)).toEqual({ last: webhook.id, unreadable: [] });
      expect(await secretsOf(alone, webhook.id)).toEqual(['whsec_two', 'whsec_one']);
      const row = await rowOf(webhook);
      expect(row).toMatchObject({ secret_key: nextKey, past_secrets: [{ key: nextKey }] });
      // Nothing is written a second time.
      await reencrypt(ports);
      expect(await rowOf(webhook)).toEqual(row);
    });

    it('are replaced without the key of the former ones, and no other change of a webhook needs a key', async () => {
      const webhook = await add(await open([old]), 'whsec_one');
      const alone = await open([next]);
      const { secret } = (await rowOf(webhook)) ?? {};
      await alone.webhooks.change(byOperator(webhook), () => ({ ...webhook, description: 'new' }));
      expect(await rowOf(webhook)).toMatchObject({ description: 'new', secret, secret_key: oldKey });
      await rotate(alone, webhook, 'whsec_two');
      expect(await secretsOf(alone, webhook.id)).toEqual(['whsec_two']);
      expect(await secretsOf(await open([next, old]), webhook.id)).toEqual(['whsec_two', 'whsec_one']);
    });

    it('that can’t be decrypted are left and named, and keep no other from being encrypted', async () => {
      const lost = await add(await open(['x'.repeat(32)]), 'whsec_lost');
      const before = await open([old]);
      const [broken, kept] = [await add(before, 'whsec_broken'), await add(before, 'whsec_kept')];
      await ask(database.url, `UPDATE webhooks SET secret = 'short', status = 'disabled' WHERE id = '${broken.id}'`);
      const rows = [await rowOf(lost), await rowOf(broken)];
      const { unreadable } = await reencrypt(await open([next, old]));
      expect(unreadable).toHaveLength(2);
      for (const { id } of [lost, broken]) expect(unreadable.map((each) => each.id)).toContain(id);
      expect(unreadable).toContainEqual({ id: broken.id, status: 'disabled' });
      expect([await rowOf(lost), await rowOf(broken)]).toEqual(rows);
      expect(await rowOf(kept)).toMatchObject({ secret_key: nextKey });
    });

    it('are not put back by the worker if they are replaced meanwhile', async () => {
      const webhook = await add(await open([old]), 'whsec_one');
      const ports = await open([next, old]);
      const rival = new pg.Client(database.url);
      await rival.connect();
      closers.push(() => rival.end());
      const { secret, key } = new SecretCipher([next, old]).encrypt('whsec_two', webhook.id);
      await rival.query('BEGIN');
      await rival.query('UPDATE webhooks SET secret = $1, secret_key = $2 WHERE id = $3', [secret, key, webhook.id]);
      const work = reencrypt(ports);
      await untilBlocked(database.url);
      await rival.query('COMMIT');
      await work;
      expect(await secretsOf(ports, webhook.id)).toEqual(['whsec_two']);
    });

    it('that can’t be decrypted keep no other webhook waiting, and are looked at again after a minute', async () => {
      const lost = await add(await open([old]), 'whsec_lost');
      const ports = await open([next]);
      const kept = await add(ports, 'whsec_kept');
      for (const { id } of [lost, kept]) await ports.webhookDeliveries.ping(id, at.createdAt);
      expect((await takeRound(ports))?.receiver.id).toBe(kept.id);
      expect(await takeRound(ports)).toBeUndefined();
      expect(await rowOf(lost)).toMatchObject({ status: 'enabled', failed_turns: 0 });
      const soon = `SELECT FROM webhooks WHERE id = '${lost.id}' AND turn_at <= now() + interval '1 minute'`;
      expect(await ask(database.url, soon)).toHaveLength(1);
    });

    it('are counted by their keys, each webhook with the worst of its own', async () => {
      const [before, ports] = [await open([old]), await open([next, old])];
      await add(ports, 'whsec_1');
      await add(before, 'whsec_2');
      const [mixed, unknown] = [await add(before, 'whsec_3'), await add(before, 'whsec_4')];
      await rotate(ports, mixed, 'whsec_new');
      await ask(database.url, `UPDATE webhooks SET secret_key = '' WHERE id = '${unknown.id}'`);
      expect(await ports.webhooks.countSecrets()).toEqual({ first: 1, older: 2, unknown: 1 });
      expect(await (await open([next])).webhooks.countSecrets()).toEqual({ first: 1, older: 0, unknown: 3 });
      await reencrypt(ports);
      expect(await ports.webhooks.countSecrets()).toEqual({ first: 4, older: 0, unknown: 0 });
    });
  });
});
