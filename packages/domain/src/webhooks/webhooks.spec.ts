import { describe, expect, it } from '@jest/globals';
import type { Account, AccountId } from '../accounts/account.js';
import { plan } from '../accounts/plan.js';
import { decideFailure, pauseAfter } from '../deliveries/deliver-batch.js';
import { DAY, HOUR, type Instant, instant, later, MINUTE, SECOND } from '../kernel/clock.js';
import { DomainError } from '../kernel/errors.js';
import { decisions } from '../testing/decisions.js';
import { decideTurnEnd, PAUSES, type Receiver, type TurnEnd } from './delivery.js';
import {
  decideCreation,
  decidePing,
  decideRecovery,
  decideRemoval,
  decideRetry,
  decideSecretRotation,
  decideWebhookChange,
  type NewWebhook,
  type SecretRotationState,
  signingSecrets,
  type Webhook,
  type WebhookId,
} from './webhook.js';
import type { WebhookResponse } from './webhook-sender.js';

const NOW = instant(Date.UTC(2026, 0, 1));
const URL = 'https://hooks.example.com/store';

describe('the decisions on webhooks', () => {
  const account: Account = {
    id: 1n as AccountId,
    email: 'dev@example.com',
    plan: plan('free'),
    scopes: undefined,
    createdAt: NOW,
    credentialVersion: 3,
    provenAt: undefined,
  };
  const times = { createdAt: NOW, updatedAt: NOW };
  const webhook: Webhook = {
    id: 'whk_1' as WebhookId,
    accountId: 1n as AccountId,
    url: URL,
    types: undefined,
    description: undefined,
    status: 'enabled',
    recoveringSince: undefined,
    ...times,
  };
  const actor = { credentialVersion: 3 };
  const command = { accountId: webhook.accountId, id: webhook.id, actor };
  const at = later(NOW, HOUR);
  const decidedAt = <State, Command, Outcome>(decide: (state: State, command: Command, now: Instant) => Outcome) =>
    decisions({ it, expect }, (state: State, asked: Command) => decide(state, asked, at));
  const of = (stored: Webhook | undefined) => ({ account, key: undefined, webhook: stored });
  const disabled: Webhook = { ...webhook, status: 'disabled' };

  const creation = decidedAt(decideCreation);
  const holder = { account, key: undefined, webhooks: 9 };
  const added: NewWebhook = { ...webhook, secret: 'whsec_1' };
  creation('9 webhooks', holder).when('one is added', { actor, webhook: added }).then('it is stored', added);
  creation('10 webhooks', { ...holder, webhooks: 10 })
    .when('one is added', { actor, webhook: added })
    .thenRefused('too_many_webhooks', '10');
  creation('no account', { ...holder, account: undefined })
    .when('the operator adds one', { actor: 'operator', webhook: added })
    .thenRefused('not_found');
  creation('the version 3', holder)
    .when('2 is wanted', { actor: { credentialVersion: 2 }, webhook: added })
    .thenRefused('signed_out');

  const change = decidedAt(decideWebhookChange);
  const disabling = { ...command, change: { status: 'disabled' } } as const;
  change('a webhook', of(webhook))
    .when('it is disabled', disabling)
    .then('it is changed now', { ...disabled, updatedAt: at });
  change('a webhook', of(webhook))
    .when('nothing changes', { ...command, change: { url: URL } })
    .then('it stays', webhook);

  const rotation = decidedAt(decideSecretRotation);
  const rotate = { ...command, secret: 'whsec_new' };
  const ends = (...minutes: number[]) => minutes.map((minute) => ({ until: later(at, minute * MINUTE) }));
  const withPast = (past: SecretRotationState['past']) => ({ ...of(webhook), past });
  const rotated = { webhook: { ...webhook, updatedAt: at }, secret: 'whsec_new', until: later(at, DAY) };
  rotation('a webhook', withPast([]))
    .when('its secret is rotated', rotate)
    .then('the replaced one signs for a day', rotated);
  rotation('3 replaced secrets that sign, and one that has ended', withPast(ends(3, 2, 1, 0)))
    .when('the secret is rotated', rotate)
    .then('5 sign', rotated);
  rotation('4 replaced secrets that sign', withPast(ends(4, 3, 2, 1)))
    .when('the secret is rotated', rotate)
    .thenRefused(
      'too_many_secrets',
      '5 secrets of the webhook sign, which is the most; it can get another one from 2026-01-01T01:01:00.000Z on',
    );

  const removal = decidedAt(decideRemoval);
  const ping = decidedAt(decidePing);
  const retry = decidedAt(decideRetry);
  removal('a disabled webhook', of(disabled)).when('it is deleted', command).then('it may be', undefined);
  ping('a webhook', of(webhook)).when('it is pinged', command).then('it may be', webhook);
  retry('a webhook', of(webhook)).when('a delivery is retried', command).then('it may be', webhook);
  ping('a disabled webhook', of(disabled)).when('it is pinged', command).thenRefused('webhook_disabled');
  retry('a disabled webhook', of(disabled)).when('a delivery is retried', command).thenRefused('webhook_disabled');

  const recovery = decidedAt(decideRecovery);
  const recover = { ...command, since: NOW };
  const recovering = { ...webhook, recoveringSince: NOW };
  recovery('a webhook', of(webhook)).when('it is to recover', recover).then('it does', recovering);
  recovery('one that recovers', of({ ...webhook, recoveringSince: later(NOW, 1) }))
    .when('an earlier time is wanted', recover)
    .then('it begins there', recovering);
  recovery('one that recovers', of(recovering))
    .when('a later time is wanted', { ...recover, since: later(NOW, 1) })
    .then('it goes on', recovering);
  recovery('a disabled webhook', of(disabled)).when('it is to recover', recover).thenRefused('webhook_disabled');

  const reset = { ...of(webhook), account: { ...account, credentialVersion: 4 } };
  const lacking = { ...of(webhook), account: { ...account, scopes: ['events:read'] } } as const;
  for (const [state, code] of [
    [of(undefined), 'not_found'],
    [reset, 'signed_out'],
    [lacking, 'insufficient_scope'],
  ] as const) {
    change(code, state).when('it is disabled', disabling).thenRefused(code);
    rotation(code, { ...state, past: [] })
      .when('its secret is rotated', rotate)
      .thenRefused(code);
    removal(code, state).when('it is deleted', command).thenRefused(code);
    ping(code, state).when('it is pinged', command).thenRefused(code);
    retry(code, state).when('a delivery is retried', command).thenRefused(code);
    recovery(code, state).when('it is to recover', recover).thenRefused(code);
  }

  const lacks = 'lacks the scope events:read';
  const writer: Account = { ...account, scopes: ['webhooks:write'] };
  const managed = { ...of(webhook), account: writer };
  creation('only webhooks:write', { ...holder, account: writer })
    .when('one is added', { actor, webhook: added })
    .thenRefused('insufficient_scope', lacks);
  for (const fields of [
    { url: URL },
    { types: undefined },
    { status: 'enabled' },
    { status: 'disabled', url: URL },
  ] as const)
    change('only webhooks:write', managed)
      .when(`it gets ${JSON.stringify(fields)}`, { ...command, change: fields })
      .thenRefused('insufficient_scope', lacks);
  change('only webhooks:write', managed)
    .when('it is disabled', disabling)
    .then('it is', { ...disabled, updatedAt: at });
  recovery('only webhooks:write', managed).when('it is to recover', recover).thenRefused('insufficient_scope', lacks);
  retry('only webhooks:write', managed).when('a delivery is retried', command).thenRefused('insufficient_scope', lacks);
  ping('only webhooks:write', managed).when('it is pinged', command).then('it may be', webhook);
  removal('only webhooks:write', managed).when('it is deleted', command).then('it may be', undefined);

  it('replaced secrets sign until each ends, the current one is first', () => {
    const past = [
      { secret: 'old', until: at },
      { secret: 'older', until: later(at, -1) },
    ];
    const signing = [later(at, -2), later(at, -1), at].map((now) => signingSecrets({ current: 'new', past }, now));
    expect(signing).toEqual([['new', 'old', 'older'], ['new', 'old'], ['new']]);
  });

  const url = URL;
  const receiver = (failing: Partial<Receiver> = {}): Receiver => ({
    id: webhook.id,
    accountId: webhook.accountId,
    url,
    description: undefined,
    status: 'enabled',
    updatedAt: times.updatedAt,
    failedTurns: 0,
    failingSince: undefined,
    attemptedAt: undefined,
    ...failing,
  });
  const failingFor = (failedTurns: number, time: number): Partial<Receiver> => ({
    failedTurns,
    failingSince: later(at, -time),
    attemptedAt: later(at, -HOUR),
  });
  const ended = (end: Partial<TurnEnd> = {}): TurnEnd => ({
    status: 'enabled',
    updatedAt: times.updatedAt,
    failedTurns: 0,
    failingSince: undefined,
    pause: 0,
    isFailing: false,
    ...end,
  });
  const failed = (failedTurns: number, since: number, pause: number, end: Partial<TurnEnd> = {}) =>
    ended({ failedTurns, failingSince: later(at, -since), pause, ...end });
  const nowDisabled = { status: 'disabled', updatedAt: at } as const;
  const answers = (...statuses: number[]) => statuses.map((status) => ({ status, retryAfter: undefined }));
  const asking = (status: number, retryAfter: number) => [{ status, retryAfter }];

  const turn = decisions({ it, expect }, (state: Receiver, responses: readonly (WebhookResponse | undefined)[]) =>
    decideTurnEnd(state, { url: URL, responses }, at),
  );
  turn('a receiver that works', receiver())
    .when('all attempts fail', [...answers(500), undefined])
    .then('it is left for 5 seconds', failed(1, 0, 5 * SECOND));
  turn('a receiver that has failed twice', receiver(failingFor(2, HOUR)))
    .when('it fails', answers(302))
    .then('it is left for longer', failed(3, HOUR, 20 * SECOND));
  turn('a receiver that has failed often', receiver(failingFor(9, 5 * DAY - 1)))
    .when('it fails', answers(500))
    .then('it is left for a minute', failed(10, 5 * DAY - 1, MINUTE));
  turn('a receiver that has failed for 5 days', receiver(failingFor(9, 5 * DAY)))
    .when('it fails', answers(500))
    .then('it is disabled, and its owner told', failed(10, 5 * DAY, MINUTE, { ...nowDisabled, isFailing: true }));
  turn('a receiver that has failed for 5 days', receiver(failingFor(9, 5 * DAY)))
    .when('one of its attempts succeeds', answers(500, 204))
    .then('it is asked again at once', ended());
  turn('a receiver that failed ten days ago, and wasn’t asked since', {
    ...receiver(failingFor(1, 10 * DAY)),
    attemptedAt: later(at, -2 * DAY - 1),
  })
    .when('it fails', answers(503))
    .then('its failing begins anew', failed(2, 0, 10 * SECOND));
  turn('a receiver that works', receiver())
    .when('it says that it is gone', answers(200, 410))
    .then('it is disabled', ended(nowDisabled));
  turn('a receiver that works', receiver())
    .when('it asks to wait', asking(429, HOUR))
    .then('it is left for as long', failed(1, 0, HOUR));
  turn('a receiver that works', receiver())
    .when('it asks to wait for days', [...answers(204), ...asking(503, 9 * DAY)])
    .then('it is left for a day', ended({ pause: DAY }));
  turn('a receiver that works', receiver())
    .when('another failure says how long to wait', asking(500, HOUR))
    .then('it is asked as usual', failed(1, 0, 5 * SECOND));
  turn('a receiver with another URL since', receiver({ ...failingFor(3, 6 * DAY), url: 'https://new.example.com' }))
    .when('the attempts at the old one fail', answers(410))
    .then('the new one begins well', ended());
  turn('a webhook that its owner has disabled since', receiver({ ...failingFor(3, 6 * DAY), status: 'disabled' }))
    .when('the attempts fail', answers(500))
    .then('it stays as it is', ended({ status: 'disabled' }));

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
