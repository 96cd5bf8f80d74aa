import { describe, expect, it } from '@jest/globals';
import type { AccountId } from '../accounts/account.js';
import { plan } from '../accounts/plan.js';
import { createApplication } from '../application.js';
import { decideFailure, pauseAfter } from '../deliveries/deliver-batch.js';
import { DAY, HOUR, instant, later, MINUTE, SECOND } from '../kernel/clock.js';
import { DomainError } from '../kernel/errors.js';
import { inMemoryPorts, unchanged } from '../testing/index.js';
import { decisions } from '../testing/decisions.js';
import { decideTurnEnd, PAUSES } from './delivery.js';
import type { WebhookAttempt } from './use-cases.js';
import {
  decideCreation,
  decideSecretRotation,
  decideWebhookChange,
  signingSecrets,
  type StoredWebhook,
  type WebhookId,
} from './webhook.js';

const NOW = instant(Date.UTC(2026, 0, 1));
const URL = 'https://hooks.example.com/store';

async function openStore({ mailsAccounts = true } = {}) {
  const ports = inMemoryPorts();
  const application = createApplication(ports, { mailsAccounts });
  const { id: accountId } = await application.openAccount.execute({ email: 'dev@example.com', plan: plan('free') });
  const { webhook, secret } = await application.createWebhook.execute({ accountId, url: URL });
  const own = { accountId, id: webhook.id };
  const ping = async (times = 1) => {
    for (let count = 0; count < times; count += 1) await application.pingWebhook.execute(own);
  };
  /** Takes one turn and returns its attempts. */
  const deliver = async (isStopping?: () => boolean) => {
    const attempts: WebhookAttempt[] = [];
    const turn = await application.deliverWebhooks.execute((each) => attempts.push(each), isStopping);
    return { attempts, ...turn };
  };
  const { clock, webhookSender: receiver } = ports;
  const deliveries = async () => (await application.listDeliveries.execute(own)).items;
  return { ...application, ports, clock, receiver, own, webhook, secret, ping, deliver, deliveries };
}

describe('a webhook', () => {
  it('is created enabled, with a secret that is shown once', async () => {
    const { webhook, secret, getWebhook, listWebhooks, own, createWebhook, clock } = await openStore();
    const at = { createdAt: clock.now(), updatedAt: clock.now() };
    const fields = { url: URL, types: undefined, description: undefined, status: 'enabled', ...at };
    expect(webhook).toEqual({ ...own, ...fields, id: expect.stringMatching(/^whk_[0-9A-Za-z]{24}$/) });
    expect(secret).toMatch(/^whsec_[0-9A-Za-z+/]{43}=$/);
    expect(Buffer.from(secret.slice(6), 'base64').toString('base64')).toBe(secret.slice(6));
    expect(await getWebhook.execute(own)).toEqual(webhook);
    const { webhook: next } = await createWebhook.execute({ ...own, url: URL, types: ['order.placed', 'pet.added'] });
    expect(next.types).toEqual(['pet.added', 'order.placed']);
    expect(await listWebhooks.execute(own)).toEqual([webhook, next]);
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

  it('is changed in the given fields, of which null takes a value away', async () => {
    const { changeWebhook, getWebhook, own, webhook, clock } = await openStore();
    clock.advance(MINUTE);
    const fields = { types: ['pet.added'], description: 'ours' } as const;
    const changed = await changeWebhook.execute({ ...own, change: fields });
    expect(changed).toEqual({ ...webhook, ...fields, updatedAt: clock.now() });
    clock.advance(MINUTE);
    expect(await changeWebhook.execute({ ...own, change: fields })).toEqual(changed);
    const condition = unchanged(changed);
    const back = await changeWebhook.execute({ ...own, condition, change: { types: null, description: null } });
    expect(back).toEqual({ ...webhook, updatedAt: clock.now() });
    await expect(changeWebhook.execute({ ...own, condition, change: fields })).rejects.toMatchObject({
      code: 'precondition_failed',
    });
    await expect(changeWebhook.execute({ ...own, change: {} })).rejects.toMatchObject({ code: 'invalid_parameter' });
    expect(await getWebhook.execute(own)).toEqual(back);
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

  it('is its account’s alone, and gone once it is deleted', async () => {
    const { deleteWebhook, own, ...application } = await openStore();
    const { getWebhook, changeWebhook, rotateWebhookSecret, pingWebhook, listDeliveries } = application;
    const expectNone = async (whose: typeof own) => {
      for (const attempt of [
        () => getWebhook.execute(whose),
        () => changeWebhook.execute({ ...whose, change: { status: 'disabled' } }),
        () => rotateWebhookSecret.execute(whose),
        () => pingWebhook.execute(whose),
        () => listDeliveries.execute(whose),
        () => application.retryDelivery.execute({ ...whose, deliveryId: 'dlv_1' }),
        () => application.recoverDeliveries.execute({ ...whose, since: NOW }),
        () => deleteWebhook.execute(whose),
      ])
        await expect(attempt()).rejects.toMatchObject({ code: 'not_found' });
    };
    await expectNone({ ...own, accountId: 99n as AccountId });
    await deleteWebhook.execute(own);
    await expectNone(own);
  });

  it('that is disabled is asked to be enabled first, before anything is queued for it', async () => {
    const { changeWebhook, pingWebhook, retryDelivery, recoverDeliveries, own, deliveries } = await openStore();
    await changeWebhook.execute({ ...own, change: { status: 'disabled' } });
    const refused = { code: 'webhook_disabled' };
    await expect(pingWebhook.execute(own)).rejects.toMatchObject(refused);
    await expect(retryDelivery.execute({ ...own, deliveryId: 'dlv_1' })).rejects.toMatchObject(refused);
    await expect(recoverDeliveries.execute({ ...own, since: NOW })).rejects.toMatchObject(refused);
    expect(await deliveries()).toEqual([]);
  });
});

describe('delivering to webhooks', () => {
  it('sends an event’s type, time and data under its id, with the secrets of the time', async () => {
    const { addAnimal, publishEvents, listEvents, receiver, deliver, own, clock, ...store } = await openStore();
    await addAnimal.execute({ name: '"Łuna" 🐈', categoryId: 2n ** 63n - 1n });
    const happened = clock.now();
    await publishEvents.execute();
    const { secret } = await store.rotateWebhookSecret.execute(own);
    clock.advance(DAY - 1);
    const [event] = (await listEvents.execute(own)).events;
    expect(await deliver()).toEqual({
      attempts: [{ id: 'dlv_1', webhookId: own.id, type: 'pet.added', attempt: 1, outcome: 'sent' }],
      mayHaveMore: true,
    });
    expect(receiver.requests).toEqual([
      {
        ...{ url: URL, id: event?.id, at: clock.now(), secrets: [secret, store.secret] },
        body: `{"type":"pet.added","timestamp":"${new Date(happened).toISOString()}","data":${event?.data ?? ''}}`,
      },
    ]);
    clock.advance(1);
    await store.ping();
    await deliver();
    const { id, body, secrets } = receiver.requests[1] ?? {};
    expect([id, secrets]).toEqual(['dlv_2', [secret]]);
    expect(JSON.parse(body ?? '')).toMatchObject({ type: 'webhook.ping', data: { id: own.id } });
    expect(await deliver()).toEqual({ attempts: [], mayHaveMore: false });
  });

  it('sends the deliveries of a turn at the same time, at most 20', async () => {
    const { ping, deliver, receiver } = await openStore();
    await ping(21);
    let sending = 0;
    receiver.answer = () => {
      sending += 1;
      return 200;
    };
    expect((await deliver(() => sending > 0)).attempts).toHaveLength(20);
    expect((await deliver(() => true)).attempts).toEqual([]);
    expect((await deliver()).attempts).toHaveLength(1);
  });

  it.each([
    [302, 'postponed'],
    [500, 'postponed'],
    [undefined, 'postponed'],
    [410, 'failed'],
    [299, 'sent'],
  ] as const)('an attempt that is answered %s is %s', async (answer, outcome) => {
    const { ping, deliver, receiver, deliveries, getWebhook, own } = await openStore();
    await ping();
    receiver.answer = () => answer ?? new Error('no answer');
    expect((await deliver()).attempts).toMatchObject([{ outcome }]);
    expect(await deliveries()).toMatchObject([{ attempts: 1, responseStatus: answer }]);
    expect((await getWebhook.execute(own)).status).toBe(answer === 410 ? 'disabled' : 'enabled');
  });

  it('attempts a delivery ten times in about three days, until a retry begins again', async () => {
    const { ping, deliver, receiver, clock, deliveries, retryDelivery, own } = await openStore();
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
    receiver.answer = () => 200;
    const again = await retryDelivery.execute({ ...own, deliveryId: failed?.id ?? '' });
    expect(again).toMatchObject({ status: 'queued', attempts: 0, nextAttemptAt: clock.now() });
    clock.advance(MINUTE);
    expect((await deliver()).attempts).toMatchObject([{ attempt: 1, outcome: 'sent' }]);
    await expect(retryDelivery.execute({ ...own, deliveryId: 'dlv_9' })).rejects.toMatchObject({ code: 'not_found' });
  });

  it.each([true, false])(
    'disables a webhook after 5 days of failures, and tells its owner by mail: %s',
    async (isTold) => {
      const { ping, deliver, receiver, clock, getWebhook, own, ports } = await openStore({ mailsAccounts: isTold });
      receiver.answer = () => 500;
      await ping();
      await deliver();
      clock.advance(5 * DAY - SECOND);
      await ping();
      expect((await deliver()).attempts).toHaveLength(2);
      expect((await getWebhook.execute(own)).status).toBe('enabled');
      clock.advance(MINUTE);
      await deliver();
      expect((await getWebhook.execute(own)).status).toBe('disabled');
      const mails = await ports.accountMails.claim({ limit: 10, lease: MINUTE });
      expect(mails.map(({ kind, email }) => ({ kind, email }))).toEqual(
        isTold ? [{ kind: 'webhook', email: 'dev@example.com' }] : [],
      );
    },
  );
});

describe('the decisions on webhooks', () => {
  const secrets = { current: 'whsec_old' };
  const account = { id: 1n as AccountId, email: 'dev@example.com' } as never;
  const times = { createdAt: NOW, updatedAt: NOW };
  const webhook: StoredWebhook = {
    ...{ id: 'whk_1' as WebhookId, accountId: 1n as AccountId, url: URL, types: undefined, description: undefined },
    ...{ status: 'enabled', ...times, secrets },
  };
  const command = { accountId: webhook.accountId, id: webhook.id };
  const at = later(NOW, HOUR);

  const creation = decisions({ it, expect }, decideCreation);
  creation('9 webhooks', { account, webhooks: 9 }).when('one is added', webhook).then('it is stored', webhook);
  creation('10 webhooks', { account, webhooks: 10 })
    .when('one is added', webhook)
    .thenRefused('too_many_webhooks', '10');
  creation('no account', { account: undefined, webhooks: 0 }).when('one is added', webhook).thenRefused('not_found');

  const change = decisions(
    { it, expect },
    (state: StoredWebhook | undefined, edit: Parameters<typeof decideWebhookChange>[1]) =>
      decideWebhookChange(state, edit, at),
  );
  change('a webhook', webhook)
    .when('it is disabled', { ...command, change: { status: 'disabled' } })
    .then('it is changed now', { ...webhook, status: 'disabled', updatedAt: at });
  change('a webhook', webhook)
    .when('nothing changes', { ...command, change: { url: URL } })
    .then('it stays', webhook);

  const rotation = decisions({ it, expect }, (state: StoredWebhook | undefined, secret: string) =>
    decideSecretRotation(state, { ...command, secret }, at),
  );
  rotation('a webhook', webhook)
    .when('its secret is rotated', 'whsec_new')
    .then('both sign for a day', {
      ...{ ...webhook, updatedAt: at },
      secrets: { current: 'whsec_new', previous: { secret: 'whsec_old', until: later(at, DAY) } },
    });
  rotation('no webhook', undefined).when('its secret is rotated', 'whsec_new').thenRefused('not_found');

  it('the former secret signs until it ends', () => {
    const both = { current: 'new', previous: { secret: 'old', until: at } };
    expect([later(at, -1), at].map((now) => signingSecrets(both, now))).toEqual([['new', 'old'], ['new']]);
  });

  const turn = decisions(
    { it, expect },
    (state: Parameters<typeof decideTurnEnd>[0], responses: (number | undefined)[]) =>
      decideTurnEnd(state, { responses }, NOW),
  );
  const failingFor = (failedTurns: number, time: number) => ({ failedTurns, failingSince: later(NOW, -time) });
  const well = { failedTurns: 0, failingSince: undefined };
  turn('a receiver that works', well)
    .when('all attempts fail', [500, undefined])
    .then('it is left for 5 seconds', { failedTurns: 1, failingSince: NOW, pause: 5 * SECOND });
  turn('a receiver that has failed twice', failingFor(2, HOUR))
    .when('it fails', [302])
    .then('it is left for longer', { ...failingFor(3, HOUR), pause: 20 * SECOND });
  turn('a receiver that has failed often', failingFor(9, 5 * DAY - 1))
    .when('it fails', [500])
    .then('it is left for a minute', { ...failingFor(10, 5 * DAY - 1), pause: MINUTE });
  turn('a receiver that has failed for 5 days', failingFor(9, 5 * DAY))
    .when('it fails', [500])
    .then('it is disabled', { ...failingFor(10, 5 * DAY), pause: MINUTE, disabled: 'failing' });
  turn('a receiver that has failed for 5 days', failingFor(9, 5 * DAY))
    .when('one of its attempts succeeds', [500, 204])
    .then('it is asked again at once', { ...well, pause: 0 });
  turn('a receiver that works', well)
    .when('it says that it is gone', [200, 410])
    .then('it is disabled', { ...well, pause: 0, disabled: 'gone' });

  it('a failed attempt is followed by another after 5 s, 5 min, 30 min and 2, 5, 10, 14, 20, 24 hours, minus up to a tenth', () => {
    const pauses = { longest: PAUSES, drawn: 0.1 };
    const hours = [2, 5, 10, 14, 20, 24].map((hour) => hour * HOUR);
    const longest = [5 * SECOND, 5 * MINUTE, 30 * MINUTE, ...hours];
    expect(longest.map((_, index) => pauseAfter(index + 1, 0, pauses))).toEqual(longest);
    expect(longest.map((_, index) => pauseAfter(index + 1, 1, pauses))).toEqual(longest.map((pause) => 0.9 * pause));
    const failure = { attempts: 10, pauses, reason: new DomainError('not_found', ''), random: 0 };
    expect(decideFailure({ failures: 8 }, failure)).toEqual({ status: 'queued', pause: DAY });
    expect(decideFailure({ failures: 9 }, failure)).toEqual({ status: 'failed' });
  });
});
