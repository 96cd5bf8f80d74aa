import { describe, expect, it } from '@jest/globals';
import {
  type AccountId,
  type ApiKey,
  type ApiKeyId,
  DAY,
  HOUR,
  type Instant,
  instant,
  later,
  MINUTE,
  plan,
  SECOND,
} from '@adoption-store/domain';
import { viewHelpers } from './view-helpers.js';

const now = instant(Date.UTC(2026, 10, 21, 12, 29));

const aKey = (of: Partial<ApiKey> & { readonly id: ApiKeyId }): ApiKey => ({
  accountId: 1n as AccountId,
  hash: '',
  ending: 'x9Kq',
  scopes: undefined,
  disabledAt: undefined,
  name: undefined,
  createdAt: later(now, -100 * DAY),
  expiresAt: undefined,
  revokedAt: undefined,
  replacedBy: undefined,
  lastUsedAt: undefined,
  ...of,
});

describe('the pages’ helpers', () => {
  it('give times in UTC, machine-readable too', () => {
    expect(viewHelpers.dateTime(now)).toBe('<time datetime="2026-11-21T12:29:00.000Z">21 Nov 2026, 12:29 UTC</time>');
    expect(viewHelpers.date(now)).toBe('<time datetime="2026-11-21T12:29:00.000Z">21 Nov 2026</time>');
  });

  it.each([
    [-1, 'in 0 seconds'],
    [SECOND, 'in 1 second'],
    [MINUTE - 1, 'in 60 seconds'],
    [MINUTE + 1, 'in 2 minutes'],
    [2 * HOUR, 'in 2 hours'],
    [2 * DAY, 'in 2 days'],
  ])('round a wait up: %d ms are %s', (milliseconds, text) => {
    expect(viewHelpers.until(later(now, milliseconds), now)).toBe(text);
  });

  it('give the end of a key: its revocation or its expiry, whichever is first', () => {
    const end = (revokedAt: Instant | undefined, expiresAt: Instant | undefined) =>
      viewHelpers.endOf(aKey({ id: 1n as ApiKeyId, revokedAt, expiresAt }));
    expect(end(undefined, undefined)).toBeUndefined();
    expect(end(later(now, 1), undefined)).toBe(now + 1);
    expect(end(undefined, later(now, 2))).toBe(now + 2);
    expect(end(later(now, 3), later(now, 2))).toBe(now + 2);
  });

  it('show an enterprise plan’s limits only to its own account', () => {
    const limits = { perMinute: 5, perDay: 7 };
    expect(viewHelpers.plansBeside(plan('free')).map(({ limits: shown }) => shown?.perDay)).toEqual([
      1_000,
      10_000,
      100_000,
      undefined,
    ]);
    expect(viewHelpers.plansBeside(plan('enterprise', limits)).at(-1)).toEqual({
      name: 'enterprise',
      isOwn: true,
      limits,
    });
  });
});
