import { testPolicy } from '../testing/in-memory-application.js';
import { describe, expect, it, jest } from '@jest/globals';
import { createApplication } from '../application.js';
import { DAY, HOUR, later, MINUTE, SECOND } from '../kernel/clock.js';
import { byOperator, inMemoryPorts } from '../testing/index.js';
import { PAUSES } from './delivery.js';
import type { WebhookReport } from './use-cases.js';
import { MOST_WEBHOOKS } from './webhook.js';

const URL = 'https://hooks.example.com/store';

async function openStore({ mailsAccounts = true } = {}) {
  const ports = inMemoryPorts();
  const application = createApplication(ports, testPolicy(), { mailsAccounts });
  const { id: accountId } = await application.openAccount.execute({ email: 'dev@example.com' });
  const { webhook, secret } = await application.createWebhook.execute(byOperator({ accountId, url: URL }));
  const own = byOperator({ accountId, id: webhook.id });
  const ping = async (times = 1) => {
    for (let count = 0; count < times; count += 1) await application.pingWebhook.execute(own);
  };
  /** Takes one round and returns its attempts. */
  const deliver = async () => {
    const attempts: WebhookReport[] = [];
    await application.wakeWebhooks.execute();
    const round = await application.deliverWebhooks.execute((each) => attempts.push(each));
    return { attempts, ...round };
  };
  const { clock, webhookSender: receiver } = ports;
  const deliveries = async () => (await application.listDeliveries.execute(own)).items;
  return { ...application, ports, clock, receiver, own, webhook, secret, ping, deliver, deliveries };
}

describe('a webhook', () => {
  it('is created enabled, with a secret that is shown once', async () => {
    const { webhook, secret, own, createWebhook, clock } = await openStore();
    const id = expect.stringMatching(/^whk_[0-9A-Za-z]{24}$/) as unknown;
    const fields = { id, accountId: own.accountId, url: URL, types: undefined, description: undefined };
    expect(webhook).toEqual({ ...fields, status: 'enabled', createdAt: clock.now(), updatedAt: clock.now() });
    expect(secret).toMatch(/^whsec_[0-9A-Za-z+/]{43}=$/);
    expect(Buffer.from(secret.slice(6), 'base64').toString('base64')).toBe(secret.slice(6));
    const { webhook: next } = await createWebhook.execute({ ...own, url: URL, types: ['order.placed', 'pet.added'] });
    expect(next.types).toEqual(['pet.added', 'order.placed']);
  });

  it.each([
    ['url must begin with https://', { url: 'http://example.com' }],
    ['url must be at most 2048 characters', { url: `https://${'x'.repeat(2_048)}` }],
    ['types must be some of pet.added, ', { types: [] }],
    [', each at most once', { types: ['pet.added', 'pet.added'] }],
    ['types must be some of ', { types: ['webhook.ping'] }],
    ['description must be at most 255 characters', { description: 'x'.repeat(256) }],
    ['; description must not contain U+0000 or a lone surrogate', { description: '\0', types: ['x'] }],
  ])('is refused, at its creation and as a change: %s', async (message, change) => {
    const { createWebhook, changeWebhook, own } = await openStore();
    const refused = { code: 'invalid_parameter', message: expect.stringContaining(message) as unknown };
    await expect(createWebhook.execute({ ...own, url: URL, ...change })).rejects.toMatchObject(refused);
    await expect(changeWebhook.execute({ ...own, change })).rejects.toMatchObject(refused);
  });

  it('has its URL as the sender writes it, whose length is judged, and an equal one changes nothing', async () => {
    const { createWebhook, changeWebhook, own, webhook, clock, receiver } = await openStore();
    const longest = `${URL}/`.padEnd(2_048, 'x');
    const { webhook: created } = await createWebhook.execute({ ...own, url: `${longest}#the part that is not sent` });
    expect(created.url).toBe(longest);
    clock.advance(MINUTE);
    expect(await changeWebhook.execute({ ...own, change: { url: `${URL}#again` } })).toEqual(webhook);
    const other = { ...webhook, url: `${URL}/2`, updatedAt: clock.now() };
    expect(await changeWebhook.execute({ ...own, change: { url: `${URL}/2#` } })).toEqual(other);
    receiver.check = () => Promise.reject(new Error('the name of a URL that stays is not looked up'));
    expect(await changeWebhook.execute({ ...own, change: { url: other.url } })).toEqual(other);
  });

  it('has its secrets looked at in portions, until there are no more or the worker stops', async () => {
    const { reencryptWebhooks, ports, webhook } = await openStore();
    const last = { unreadable: [webhook], last: undefined };
    const reencrypt = jest.spyOn(ports.webhooks, 'reencrypt').mockResolvedValue(last);
    reencrypt.mockResolvedValueOnce({ unreadable: [], last: webhook.id });
    expect(await reencryptWebhooks.execute(() => true)).toEqual([]);
    reencrypt.mockResolvedValueOnce({ unreadable: [], last: webhook.id });
    expect(await reencryptWebhooks.execute()).toEqual([webhook]);
    expect(reencrypt.mock.lastCall?.[0]).toEqual({ after: webhook.id, limit: 100 });
  });

  it('is neither created nor changed if its actor has lost the right to while the URL was looked up', async () => {
    const { createWebhook, changeWebhook, listWebhooks, receiver, own, webhook, ...application } = await openStore();
    const { accountId } = own;
    const url = 'https://other.example.com';
    /** A key that is revoked while its URL is looked up. */
    const losingKey = async () => {
      const { key } = await application.issueKey.execute({ accountId });
      receiver.check = async (checked) => {
        await application.revokeKey.execute({ id: key.id });
        return checked;
      };
      return { keyId: key.id };
    };
    const refused = { code: 'revoked_api_key' };
    const creation = { accountId, actor: await losingKey(), url };
    await expect(createWebhook.execute(creation)).rejects.toMatchObject(refused);
    const change = { ...own, actor: await losingKey(), change: { url } };
    await expect(changeWebhook.execute(change)).rejects.toMatchObject(refused);
    expect(await listWebhooks.execute(own)).toEqual([webhook]);
  });

  it('has its URL looked up for nobody who can’t create it or change it anyway', async () => {
    const { createWebhook, changeWebhook, receiver, own, webhook } = await openStore();
    const url = 'https://other.example.com';
    for (let count = 1; count < MOST_WEBHOOKS; count += 1) await createWebhook.execute({ ...own, url });
    receiver.check = () => Promise.reject(new Error('it was looked up'));
    await expect(createWebhook.execute({ ...own, url })).rejects.toMatchObject({ code: 'too_many_webhooks' });
    const change = { ...own, actor: { credentialVersion: 9 }, change: { url } };
    await expect(changeWebhook.execute(change)).rejects.toMatchObject({ code: 'signed_out' });
    expect(await changeWebhook.execute({ ...own, change: { url: URL } })).toEqual(webhook);
  });
});

/** The id of the first delivery, the second … */
const numbered = (number: number) => `dlv_${'0'.repeat(31)}${number}`;

describe('delivering to webhooks', () => {
  it('sends an event’s type, time, sequence and data under its id, with the secrets of the time', async () => {
    const { addAnimal, publishEvents, listEvents, receiver, deliver, own, clock, ...store } = await openStore();
    await addAnimal.execute({ name: '"Łuna" 🐈', categoryId: 2n ** 63n - 1n });
    const happened = clock.now();
    await publishEvents.execute();
    const { secret } = await store.rotateWebhookSecret.execute(own);
    clock.advance(DAY - 1);
    const [event] = (await listEvents.execute(own)).events;
    expect(await deliver()).toEqual({
      attempts: [{ id: numbered(1), webhookId: own.id, type: 'pet.added', attempt: 1, outcome: 'sent' }],
      mayHaveMore: true,
    });
    const [type, timestamp] = ['"type":"pet.added"', `"timestamp":"${new Date(happened).toISOString()}"`];
    const body = `{${type},${timestamp},"sequence":${event?.sequence},"data":${event?.data ?? ''}}`;
    const secrets = [secret, store.secret];
    expect(receiver.requests).toEqual([{ url: URL, id: event?.id, at: clock.now(), secrets, body }]);
    clock.advance(1);
    await store.ping();
    await deliver();
    expect(receiver.requests[1]).toMatchObject({ id: numbered(2), secrets: [secret] });
    expect(JSON.parse(receiver.requests[1]?.body ?? '')).toMatchObject({ type: 'webhook.ping', data: { id: own.id } });
    expect(await deliver()).toEqual({ attempts: [], mayHaveMore: false });
  });

  it('is signed and judged by the queue’s time, whatever the clock of the worker says', async () => {
    const { ports, clock, receiver, own, ping, getWebhook, changeWebhook } = await openStore();
    for (const skew of [-10 * MINUTE, 10 * MINUTE]) {
      const worker = createApplication({ ...ports, clock: { now: () => later(clock.now(), skew) } }, testPolicy());
      await changeWebhook.execute({ ...own, change: { status: 'enabled' } });
      await ping();
      receiver.answer = () => 410;
      clock.advance(HOUR);
      await worker.deliverWebhooks.execute();
      expect(receiver.requests.at(-1)?.at).toBe(clock.now());
      expect(await getWebhook.execute(own)).toMatchObject({ status: 'disabled', updatedAt: clock.now() });
    }
  });

  it('sends the deliveries of a round at the same time, at most 20', async () => {
    const { ping, deliver, addAnimal, publishEvents } = await openStore();
    await ping(20);
    await addAnimal.execute({ name: 'Luna', categoryId: 1n });
    await publishEvents.execute();
    expect((await deliver()).attempts).toHaveLength(20);
    expect((await deliver()).attempts).toHaveLength(1);
  });

  it.each([
    [302, 'postponed'],
    [500, 'postponed'],
    [undefined, 'postponed'],
    [410, 'failed'],
    [299, 'sent'],
  ] as const)('an attempt that is answered %s is %s', async (answer, outcome) => {
    const { ping, deliver, receiver, deliveries, getWebhook, own, clock } = await openStore();
    await ping();
    const noon = clock.now();
    receiver.answer = () => {
      clock.advance(3 * SECOND);
      return answer ?? new Error('no answer');
    };
    expect((await deliver()).attempts).toMatchObject([{ outcome }]);
    const history = [{ attemptedAt: noon, responseStatus: answer, duration: 3 * SECOND }];
    expect(await deliveries()).toMatchObject([{ attempts: 1, responseStatus: answer, history }]);
    expect((await getWebhook.execute(own)).status).toBe(answer === 410 ? 'disabled' : 'enabled');
  });

  it('attempts a delivery ten times in about three days', async () => {
    const { ping, deliver, receiver, clock, deliveries } = await openStore();
    await ping();
    receiver.answer = () => 500;
    for (const pause of PAUSES) {
      expect((await deliver()).attempts).toMatchObject([{ outcome: 'postponed' }]);
      clock.advance(0.9 * pause - 1);
      if (pause > MINUTE) expect((await deliver()).attempts).toEqual([]);
      clock.advance(0.1 * pause + 1);
    }
    expect((await deliver()).attempts).toMatchObject([{ attempt: 10, outcome: 'failed' }]);
    const [failed] = await deliveries();
    expect(failed).toMatchObject({ status: 'failed', attempts: 10, nextAttemptAt: undefined });
  });

  it.each([true, false])(
    'disables a webhook after 5 days of failures, and tells its owner by mail: %s',
    async (isTold) => {
      const { ping, deliver, receiver, clock, getWebhook, own, ports } = await openStore({ mailsAccounts: isTold });
      receiver.answer = () => 500;
      for (const pause of [0, DAY, DAY, DAY, DAY, DAY - SECOND]) {
        clock.advance(pause);
        await ping();
        await deliver();
      }
      expect((await getWebhook.execute(own)).status).toBe('enabled');
      clock.advance(MINUTE);
      await deliver();
      expect((await getWebhook.execute(own)).status).toBe('disabled');
      const mails = await ports.accountMails.claim({ limit: 10, lease: MINUTE });
      expect(mails).toMatchObject(isTold ? [{ kind: 'webhook', email: 'dev@example.com', about: URL }] : []);
    },
  );
});
