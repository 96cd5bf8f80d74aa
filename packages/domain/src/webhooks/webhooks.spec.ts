import { describe, expect, it } from '@jest/globals';
import { pauseAfter } from '../deliveries/deliver-batch.js';
import type { EventPosition } from '../events/event.js';
import { DAY, HOUR, type Instant, instant, later, MINUTE, SECOND } from '../kernel/clock.js';
import { anAccount } from '../testing/builders.js';
import { decisions } from '../testing/index.js';
import { decideRoundEnd, PAUSES, type Receiver, type RoundEnd } from './delivery.js';
import { decideNextRound, decidePortion, decideSwitch, NEVER } from './follower.js';
import {
  decideCreation,
  decidePing,
  decideRecovery,
  decideWebhookDeletion,
  decideDeliveryRetry,
  decideSecretRotation,
  decideWebhookChange,
  type NewWebhook,
  type Webhook,
  type WebhookId,
  webhookHealth,
} from './webhook.js';
import { signingSecrets } from './webhook-secrets.js';
import type { WebhookResponse } from './webhook-sender.js';

const NOW = instant(Date.UTC(2026, 0, 1));
const URL = 'https://hooks.example.com/store';
/** When it is decided. */
const at = later(NOW, HOUR);

const account = anAccount({ credentialVersion: 3 });
const webhook: Webhook = {
  id: 'whk_1' as WebhookId,
  accountId: account.id,
  url: URL,
  types: undefined,
  description: undefined,
  status: 'enabled',
  recoveringSince: undefined,
  createdAt: NOW,
  updatedAt: NOW,
};

describe('the decisions on webhooks', () => {
  const actor = { credentialVersion: 3 };
  const command = { accountId: webhook.accountId, id: webhook.id, actor };
  const decidedAt = <State, Command, Outcome>(decide: (state: State, command: Command, now: Instant) => Outcome) =>
    decisions({ it, expect }, (state: State, asked: Command) => decide(state, asked, at));
  const disabled: Webhook = { ...webhook, status: 'disabled' };
  const disabledNow: Webhook = { ...disabled, updatedAt: at };
  const stateWith = (stored: Webhook | undefined, holder = account) => ({
    account: holder,
    key: undefined,
    webhook: stored,
    past: [],
  });
  const enabled = stateWith(webhook);

  const creation = decidedAt(decideCreation);
  const holder = { account, key: undefined, webhooks: 9 };
  const full = { account, key: undefined, webhooks: 10 };
  const added: NewWebhook = { ...webhook, secret: 'whsec_1' };
  const adding = { actor, webhook: added };
  const byOperator = { actor: 'operator', webhook: added } as const;
  const byFormer = { actor: { credentialVersion: 2 }, webhook: added };
  const nobody = { account: undefined, key: undefined, webhooks: 0 };
  creation('9 webhooks', holder).when('one is added', adding).then('it is stored', added);
  creation('10 webhooks', full).when('one is added', adding).thenRefused('too_many_webhooks', '10');
  creation('no account', nobody).when('the operator adds one', byOperator).thenRefused('not_found');
  creation('the version 3', holder).when('2 is wanted', byFormer).thenRefused('signed_out');

  const change = decidedAt(decideWebhookChange);
  const disabling = { ...command, change: { status: 'disabled' } } as const;
  const same = { ...command, change: { url: URL } };
  change('a webhook', enabled).when('it is disabled', disabling).then('it is changed now', disabledNow);
  change('a webhook', enabled).when('nothing changes', same).then('it stays', webhook);

  const rotation = decidedAt(decideSecretRotation);
  const rotate = { ...command, secret: 'whsec_new' };
  const withPast = (...minutes: number[]) => ({
    ...enabled,
    past: minutes.map((minute) => ({ until: later(at, minute * MINUTE) })),
  });
  const rotated = { webhook: { ...webhook, updatedAt: at }, secret: 'whsec_new', until: later(at, DAY) };
  const from = 'which is the most; it can get another one from 2026-01-01T01:01:00.000Z on';
  rotation('a webhook', enabled)
    .when('its secret is rotated', rotate)
    .then('the replaced one signs for a day', rotated);
  rotation('3 replaced secrets that sign, and one that has ended', withPast(3, 2, 1, 0))
    .when('the secret is rotated', rotate)
    .then('5 sign', rotated);
  rotation('4 replaced secrets that sign', withPast(4, 3, 2, 1))
    .when('the secret is rotated', rotate)
    .thenRefused('too_many_secrets', `5 secrets of the webhook sign, ${from}`);

  const removal = decidedAt(decideWebhookDeletion);
  const ping = decidedAt(decidePing);
  const retry = decidedAt(decideDeliveryRetry);
  removal('a disabled webhook', stateWith(disabled)).when('it is deleted', command).then('it may be', undefined);
  ping('a webhook', enabled).when('it is pinged', command).then('it may be', webhook);
  retry('a webhook', enabled).when('a delivery is retried', command).then('it may be', webhook);
  ping('a disabled webhook', stateWith(disabled)).when('it is pinged', command).thenRefused('webhook_disabled');
  retry('a disabled webhook', stateWith(disabled)).when('one is retried', command).thenRefused('webhook_disabled');

  const recovery = decidedAt(decideRecovery);
  const recover = { ...command, since: NOW };
  const recoverLater = { ...command, since: later(NOW, 1) };
  const recovering = { ...webhook, recoveringSince: NOW };
  const recoveringLater = { ...webhook, recoveringSince: later(NOW, 1) };
  recovery('a webhook', enabled).when('it is to recover', recover).then('it does', recovering);
  recovery('one that recovers', stateWith(recoveringLater))
    .when('an earlier time is wanted', recover)
    .then('it begins there', recovering);
  recovery('one that recovers', stateWith(recovering))
    .when('a later time is wanted', recoverLater)
    .then('it goes on', recovering);
  recovery('a disabled webhook', stateWith(disabled)).when('it is to recover', recover).thenRefused('webhook_disabled');

  for (const [code, state] of [
    ['not_found', stateWith(undefined)],
    ['signed_out', stateWith(webhook, anAccount({ credentialVersion: 4 }))],
    ['insufficient_scope', stateWith(webhook, anAccount({ scopes: ['events:read'] }))],
  ] as const) {
    change(code, state).when('it is disabled', disabling).thenRefused(code);
    rotation(code, state).when('its secret is rotated', rotate).thenRefused(code);
    removal(code, state).when('it is deleted', command).thenRefused(code);
    ping(code, state).when('it is pinged', command).thenRefused(code);
    retry(code, state).when('a delivery is retried', command).thenRefused(code);
    recovery(code, state).when('it is to recover', recover).thenRefused(code);
  }

  const only = 'only webhooks:write';
  const lacks = 'lacks the scope events:read';
  const writer = anAccount({ scopes: ['webhooks:write'] });
  const managed = stateWith(webhook, writer);
  creation(only, { ...holder, account: writer })
    .when('one is added', adding)
    .thenRefused('insufficient_scope', lacks);
  const changes = [
    { url: URL },
    { types: undefined },
    { status: 'enabled' },
    { status: 'disabled', url: URL },
  ] as const;
  for (const fields of changes)
    change(only, managed)
      .when(`it gets ${JSON.stringify(fields)}`, { ...command, change: fields })
      .thenRefused('insufficient_scope', lacks);
  change(only, managed).when('it is disabled', disabling).then('it is', disabledNow);
  recovery(only, managed).when('it is to recover', recover).thenRefused('insufficient_scope', lacks);
  retry(only, managed).when('a delivery is retried', command).thenRefused('insufficient_scope', lacks);
  ping(only, managed).when('it is pinged', command).then('it may be', webhook);
  removal(only, managed).when('it is deleted', command).then('it may be', undefined);

  it('replaced secrets sign until each ends, the current one is first', () => {
    const past = [
      { secret: 'old', until: at },
      { secret: 'older', until: later(at, -1) },
    ];
    const signing = [later(at, -2), later(at, -1), at].map((now) => signingSecrets({ current: 'new', past }, now));
    expect(signing).toEqual([['new', 'old', 'older'], ['new', 'old'], ['new']]);
  });
});

it.each([
  ['enabled', undefined, 'enabled'],
  ['enabled', at, 'failing'],
  ['disabled', undefined, 'disabled'],
  ['disabled', at, 'disabled'],
] as const)('a webhook that is %s and fails since %s is shown as %s', (status, failingSince, health) => {
  expect(webhookHealth({ status, failingSince })).toBe(health);
});

describe('the end of a round', () => {
  const { id, accountId, description, status, updatedAt } = webhook;
  const failing = { failedRounds: 0, failingSince: undefined, attemptedAt: undefined };
  const works: Receiver = { id, accountId, url: URL, description, status, updatedAt, ...failing };
  const failingFor = (failedRounds: number, time: number): Receiver => ({
    ...works,
    failedRounds,
    failingSince: later(at, -time),
    attemptedAt: later(at, -HOUR),
  });
  const ended = (end: Partial<RoundEnd> = {}): RoundEnd => ({
    status,
    updatedAt,
    failedRounds: 0,
    failingSince: undefined,
    pause: 0,
    isFailing: false,
    ...end,
  });
  const failed = (failedRounds: number, since: number, pause: number, end: Partial<RoundEnd> = {}) =>
    ended({ failedRounds, failingSince: later(at, -since), pause, ...end });
  const disabled = { status: 'disabled', updatedAt: at } as const;
  const answers = (...statuses: number[]) => statuses.map((each) => ({ status: each, retryAfter: undefined }));
  const asking = (asked: number, retryAfter: number) => [{ status: asked, retryAfter }];

  const given = decisions({ it, expect }, (receiver: Receiver, responses: readonly (WebhookResponse | undefined)[]) =>
    decideRoundEnd(receiver, { url: URL, responses }, at),
  );
  const noAnswer = [{ status: 500, retryAfter: undefined }, undefined];
  given('a receiver that works', works)
    .when('all attempts fail', noAnswer)
    .then('it is left for 5 seconds', failed(1, 0, 5 * SECOND));
  given('one that has failed twice', failingFor(2, HOUR))
    .when('it fails', answers(302))
    .then('it is left for longer', failed(3, HOUR, 20 * SECOND));
  given('one that has failed often', failingFor(9, 5 * DAY - 1))
    .when('it fails', answers(500))
    .then('it is left for a minute', failed(10, 5 * DAY - 1, MINUTE));
  given('one that has failed for 5 days', failingFor(9, 5 * DAY))
    .when('it fails', answers(500))
    .then('it is disabled, and its owner told', failed(10, 5 * DAY, MINUTE, { ...disabled, isFailing: true }));
  given('one that has failed for 5 days', failingFor(9, 5 * DAY))
    .when('one of its attempts succeeds', answers(500, 204))
    .then('it is asked again at once', ended());
  given('one that failed ten days ago, and wasn’t asked since', {
    ...failingFor(1, 10 * DAY),
    attemptedAt: later(at, -2 * DAY - 1),
  })
    .when('it fails', answers(503))
    .then('its failing begins anew', failed(2, 0, 10 * SECOND));
  given('one that works', works)
    .when('it says that it is gone', answers(200, 410))
    .then('it is disabled', ended(disabled));
  given('one that works', works)
    .when('it asks to wait', asking(429, HOUR))
    .then('it is left', failed(1, 0, HOUR));
  given('one that works', works)
    .when('it asks to wait for days', [...answers(204), ...asking(503, 9 * DAY)])
    .then('it is left for a day', ended({ pause: DAY }));
  given('one that works', works)
    .when('another failure says how long to wait', asking(500, HOUR))
    .then('it is asked as usual', failed(1, 0, 5 * SECOND));
  given('one with another URL since', { ...failingFor(3, 6 * DAY), url: 'https://new.example.com' })
    .when('the attempts at the old one fail', answers(410))
    .then('the new one begins well', ended());
  given('one that its owner has disabled since', { ...failingFor(3, 6 * DAY), status: 'disabled' })
    .when('the attempts fail', answers(500))
    .then('it stays as it is', ended({ status: 'disabled' }));

  it('a failed attempt is followed by another after 5 s, 5 min, 30 min and 2, 5, 10, 14, 20, 24 hours, minus up to a tenth', () => {
    const pauses = { longest: PAUSES, drawn: 0.1 };
    const hours = [2, 5, 10, 14, 20, 24].map((hour) => hour * HOUR);
    const longest = [5 * SECOND, 5 * MINUTE, 30 * MINUTE, ...hours];
    expect(longest.map((_, index) => pauseAfter(index + 1, 0, pauses))).toEqual(longest);
    expect(longest.map((_, index) => pauseAfter(index + 1, 1, pauses))).toEqual(longest.map((pause) => 0.9 * pause));
  });
});

describe('how a webhook follows the feed', () => {
  const place = (position: number) => BigInt(position) as EventPosition;
  const feed = { end: place(9), now: at };
  const recovery = (after?: number, since?: Instant, end = 8) => ({
    since,
    after: after === undefined ? undefined : place(after),
    end: place(end),
  });
  const follower = (of?: ReturnType<typeof recovery>) => ({ position: place(5), recovery: of });
  const switching = decisions({ it, expect }, (state: ReturnType<typeof follower>, to: Webhook['status']) =>
    decideSwitch(state, to, feed),
  );
  switching('a disabled one', follower(recovery(3)))
    .when('it is enabled', 'enabled')
    .then('it goes on at the end of the feed', { position: place(9), followsSince: at });
  switching('one that is behind', follower())
    .when('it is disabled', 'disabled')
    .then('it will recover what it hasn’t taken', { recovery: recovery(5, undefined, 9) });
  switching('one that still recovers what it missed earlier', follower(recovery(3)))
    .when('it is disabled', 'disabled')
    .then('it will recover that, too', { recovery: recovery(3, undefined, 9) });
  switching('one that recovers what its owner asked for', follower(recovery(6, NOW)))
    .when('it is disabled', 'disabled')
    .then('that includes the rest', { recovery: recovery(6, NOW, 9) });

  switching('one that has taken everything, and still recovers', { position: place(9), recovery: recovery(3) })
    .when('it is disabled', 'disabled')
    .then('it gets nothing from while it was disabled before', { recovery: recovery(3) });

  const dividing = decisions({ it, expect }, decidePortion);
  const portion = (after: number, until: number, rest?: ReturnType<typeof recovery>) => ({
    after: place(after),
    until: place(until),
    rest,
  });
  dividing('a recovery of a portion', recovery(2, NOW, 1_002))
    .when('nothing is purged', place(0))
    .then('nothing is left', portion(2, 1_002));
  dividing('a longer one', recovery(2, NOW, 1_003))
    .when('nothing is purged', place(0))
    .then('the rest is left', portion(2, 1_002, recovery(1_002, NOW, 1_003)));
  dividing('one without a begin', recovery(undefined, undefined, 8))
    .when('events are purged', place(4))
    .then('it begins after these', portion(4, 8));
  dividing('one whose begin is purged', recovery(2))
    .when('more is purged', place(4))
    .then('it begins after these', portion(4, 8));

  const resting = decisions(
    { it, expect },
    (state: ReturnType<typeof follower> & { readonly dueAt?: Instant }, pause: number) =>
      decideNextRound(state, pause, feed),
  );
  const atEnd = { position: place(9), recovery: undefined };
  const pausedUntil = later(at, MINUTE);
  resting('one that is behind', follower())
    .when('its round ends', 0)
    .then('the next one is due', { pausedUntil: at, roundAt: at });
  resting('one that recovers', { ...atEnd, recovery: recovery(3) })
    .when('its round ends with a pause', MINUTE)
    .then('the next one is due then', { pausedUntil, roundAt: pausedUntil });
  resting('one with a delivery that is due later', { ...atEnd, dueAt: later(at, HOUR) })
    .when('its round ends with a pause', MINUTE)
    .then('the next one is due with it', { pausedUntil, roundAt: later(at, HOUR) });
  resting('one that has everything', atEnd)
    .when('its round ends', 0)
    .then('none is due', { pausedUntil: at, roundAt: NEVER });
});
