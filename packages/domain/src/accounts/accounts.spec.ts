import { describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { type ApplicationOptions, createApplication } from '../application.js';
import { BASE62 } from '../kernel/base62.js';
import { DAY, HOUR, type Instant, instant, later, MINUTE, startOf } from '../kernel/clock.js';
import { decisions, inMemoryPorts, PredictableCryptography } from '../testing/index.js';
import { type Account, type AccountId, closedEmail, decidePlan, decideScopes } from './account.js';
import {
  type ApiKey,
  type ApiKeyId,
  decideDisabling,
  decideIssue,
  decideRenaming,
  decideRevocation,
  decideRotation,
  decideRollback,
  endOf,
  hasEnded,
  type KeyHolder,
  keyName,
  keyState,
  MOST_ACTIVE_KEYS,
  MOST_KEYS_A_DAY,
  requireTheirs,
} from './api-key.js';
import { crc32, environmentOf, generateKeyText } from './api-key-text.js';
import { type Actor, type Authority, requireAuthority } from './authority.js';
import type { IssueKeyInput } from './issue-key.js';
import { describePlan, plan, type PlanName, PLANS, samePlan } from './plan.js';
import { describeScopes, hasScope, readScopes, requireScope, scopeList, SCOPES, sharedScopes } from './scope.js';

const EMAIL = 'dev@example.com';
const PASSWORD = 'a horse, a battery';

function setUp(options?: ApplicationOptions) {
  const ports = inMemoryPorts();
  const application = createApplication(ports, options);
  const issue = async (input: Omit<IssueKeyInput, 'accountId'> = {}) => {
    const { id: accountId } = await application.openAccount.execute({ email: EMAIL });
    return application.issueKey.execute({ accountId, ...input });
  };
  return { ...application, ports, clock: ports.clock, issue };
}

describe('an account', () => {
  it('is the same however its address is written', async () => {
    const { openAccount } = setUp();
    const [one, other] = [
      await openAccount.execute({ email: EMAIL }),
      await openAccount.execute({ email: 'Dev@Example.COM' }),
    ];
    expect(other).toEqual(one);
  });

  it('is not opened again with a different plan', async () => {
    const { openAccount } = setUp();
    await openAccount.execute({ email: EMAIL });
    await expect(openAccount.execute({ email: EMAIL, plan: plan('pro') })).rejects.toMatchObject({
      code: 'invalid_parameter',
      message: expect.stringContaining('free (60 a minute, 1000 a day)'),
    });
  });

  it('changes its plan for all of its keys, from the next request on', async () => {
    const { issue, changePlan, authenticate } = setUp();
    const keys = [await issue(), await issue()];
    const changed = await changePlan.execute({ email: 'DEV@example.com', plan: plan('pro') });
    expect(changed).toMatchObject({ email: EMAIL, plan: PLANS.pro });
    await expect(changePlan.execute({ email: 'dev', plan: plan('pro') })).rejects.toMatchObject({
      code: 'invalid_parameter',
    });
    for (const { text } of keys) expect((await authenticate.execute(text)).account).toEqual(changed);
  });

  it.each([
    ...['', 'dev', '@example.com', 'dev@', 'dev@example', 'dev@.com', 'dev@example.', 'a@b@c.d', 'a@b.c@d'],
    ...[' dev@example.com', 'a b@example.com', 'dev@exa mple.com', 'dev@example.c om', 'dev@example.com '],
    ...['\0dev@example.com', 'dev@\0example.com', 'dev@example.\u009fcom', 'dev@example.com\0'],
    `${'x'.repeat(65)}@example.com`,
    `dev@${'x'.repeat(247)}.com`,
  ])('is not opened for %j', async (email) => {
    await expect(setUp().openAccount.execute({ email })).rejects.toMatchObject({ code: 'invalid_parameter' });
  });

  it.each(['a@b.c', 'dev+1@mail.example.com', `${'x'.repeat(64)}@example.com`, `dev@${'x'.repeat(246)}.com`])(
    'is opened for %j',
    async (email) => {
      expect(await setUp().openAccount.execute({ email })).toMatchObject({ email });
    },
  );
});

describe('decisions on accounts', () => {
  const account: Account = {
    id: 1n as AccountId,
    email: EMAIL,
    plan: PLANS.free,
    scopes: undefined,
    createdAt: instant(0),
    credentialVersion: 1,
    provenAt: undefined,
  };
  const proven = { ...account, provenAt: instant(1) };
  const operators = { ...account, credentialVersion: 0 };
  const pro = PLANS.pro;

  describe('a plan', () => {
    const given = decisions({ it, expect }, decidePlan);
    const change = { email: EMAIL, plan: pro, isUnprovenFine: false };
    const anyhow = { ...change, isUnprovenFine: true };
    given('a proven address', proven)
      .when('it changes', change)
      .then('it does', { ...proven, plan: pro });
    given('the operator’s account', operators)
      .when('it changes', change)
      .then('it does', { ...operators, plan: pro });
    given('an unproven address', account).when('it changes', change).thenRefused('address_unproven', EMAIL);
    given('an unproven address', account)
      .when('that is fine', anyhow)
      .then('it changes', { ...account, plan: pro });
    given('no account', undefined).when('it changes', anyhow).thenRefused('not_found', `the address ${EMAIL}`);
  });

  describe('scopes', () => {
    const given = decisions({ it, expect }, decideScopes);
    const scopes = ['pets:read'] as const;
    given('an account', account)
      .when('it is held to some', { email: EMAIL, scopes })
      .then('it is', { ...account, scopes });
    given('an account that is held', { ...account, scopes })
      .when('it is let go', { email: EMAIL, scopes: undefined })
      .then('it is', account);
    given('no account', undefined)
      .when('it is held', { email: EMAIL, scopes })
      .thenRefused('not_found', `the address ${EMAIL}`);
  });
});

describe('a plan', () => {
  it.each<[PlanName, number, number]>([
    ['free', 60, 1_000],
    ['pro', 300, 10_000],
    ['business', 1_000, 100_000],
  ])('%s allows %d requests a minute and %d a day', (name, perMinute, perDay) => {
    expect(plan(name)).toEqual({ name, perMinute, perDay });
  });

  it('enterprise allows the limits it was given', () => {
    expect(describePlan(plan('enterprise', { perMinute: 5, perDay: 7 }))).toBe('enterprise (5 a minute, 7 a day)');
  });

  it.each([1, 2 ** 31 - 1])('enterprise may allow %d, by the minute and by the day', (most) => {
    const limits = { perMinute: most, perDay: most };
    expect(plan('enterprise', limits)).toEqual({ name: 'enterprise', ...limits });
  });

  it('is another one where its name or one of its two numbers differs', () => {
    const one = plan('enterprise', { perMinute: 60, perDay: 1_000 });
    expect(samePlan(one, plan('enterprise', one))).toBe(true);
    expect(samePlan(one, plan('enterprise', { perMinute: 61, perDay: 1_000 }))).toBe(false);
    expect(samePlan(one, plan('enterprise', { perMinute: 60, perDay: 1_001 }))).toBe(false);
    expect(samePlan(one, plan('free'))).toBe(false);
  });

  it.each([
    ['enterprise without a number for the day', 'enterprise', { perMinute: 5 }],
    ['enterprise without a number for the minute', 'enterprise', { perDay: 5 }],
    ['enterprise with a zero', 'enterprise', { perMinute: 0, perDay: 5 }],
    ['enterprise with a fraction', 'enterprise', { perMinute: 1.5, perDay: 5 }],
    ['enterprise with 2^31', 'enterprise', { perMinute: 5, perDay: 2 ** 31 }],
    ['another plan with a number for the minute', 'pro', { perMinute: 5 }],
    ['another plan with a number for the day', 'pro', { perDay: 5 }],
    ['a plan that does not exist', 'gold', {}],
  ])('%s is refused', (_what, name, limits) => {
    expect(() => plan(name as PlanName, limits)).toThrow(expect.objectContaining({ code: 'invalid_parameter' }));
  });
});

describe('scopes', () => {
  const anyScope = fc.constantFrom(...SCOPES);
  const anyList = fc.subarray([...SCOPES], { minLength: 1 });
  const anyScopes = fc.option(anyList, { nil: undefined });

  describe('a request has a scope', () => {
    it('exactly where its key, if there is one, and its account both name it or name none', () => {
      fc.assert(
        fc.property(fc.option(anyScopes), anyScopes, anyScope, (ofKey, ofAccount, scope) => {
          const account = { scopes: ofAccount };
          const holders = ofKey === null ? { account } : { account, key: { scopes: ofKey } };
          const isNamed = [ofKey ?? undefined, ofAccount].every((scopes) => scopes?.includes(scope) ?? true);
          expect(hasScope(holders, scope)).toBe(isNamed);
          const shared = sharedScopes(holders);
          expect(shared?.includes(scope) ?? true).toBe(isNamed);
          expect(shared === undefined).toBe((ofKey ?? undefined) === undefined && ofAccount === undefined);
        }),
      );
    });

    it.each([
      [undefined, ['pets:write'], ['pets:read', 'pets:write']],
      ['the API key lacks the scope pets:write', ['pets:read'], undefined],
      ['the account lacks the scope pets:write', undefined, ['pets:read']],
      ['the account lacks the scope pets:write', ['pets:read'], ['pets:read']],
    ] as const)('or is refused: %s', (message, ofKey, ofAccount) => {
      const required = () => {
        requireScope({ key: { scopes: ofKey }, account: { scopes: ofAccount } }, 'pets:write');
      };
      const refusal = { code: 'insufficient_scope', kind: 'forbidden', scope: 'pets:write', message };
      if (message === undefined) expect(required).not.toThrow();
      else expect(required).toThrow(expect.objectContaining(refusal));
    });
  });

  describe('a list of scopes', () => {
    it('is read again as it is described', () => {
      fc.assert(
        fc.property(anyScopes, (scopes) => {
          expect(readScopes(describeScopes(scopes))).toEqual(scopes);
        }),
      );
    });

    it('is in one order, however it was written', () => {
      fc.assert(
        fc.property(
          anyList.chain((list) => fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length }))),
          ([list, shuffled]) => {
            expect(scopeList(shuffled)).toEqual(list);
          },
        ),
      );
    });

    it('of every scope is not the same as all: it has none that is added later', () => {
      expect(readScopes(SCOPES.join(','))).toEqual(SCOPES);
      expect(readScopes('all')).toBeUndefined();
    });

    it.each([
      ['nothing', []],
      ['an unknown scope', ['pets:read', 'pets:delete']],
      ['a scope in capitals', ['Pets:Read']],
      ['a repeated scope', ['pets:read', 'pets:read']],
      ['all beside a scope', ['all', 'pets:read']],
      ['a name of every object', ['constructor']],
    ])('may not be %s', (_what, names) => {
      const refusal = expect.objectContaining({
        code: 'invalid_parameter',
        message: expect.stringMatching(/^scopes must be some of pets:read, pets:write, /),
      });
      expect(() => scopeList(names)).toThrow(refusal);
      expect(() => readScopes(names.join(','))).toThrow(refusal);
    });
  });

  describe('an account', () => {
    it('that the operator opens has all scopes, whoever signs up has less', async () => {
      const { openAccount, signUp, signIn } = setUp({ signupScopes: ['pets:read'] });
      expect((await openAccount.execute({ email: EMAIL })).scopes).toBeUndefined();
      const other = { email: 'other@example.com', password: PASSWORD };
      expect((await signUp.execute(other)).scopes).toEqual(['pets:read']);
      expect((await signIn.execute(other))?.scopes).toEqual(['pets:read']);
    });

    it('is found by its address, however it is written, and held to a list in order', async () => {
      const { openAccount, changeScopes, getAccount } = setUp();
      const { id } = await openAccount.execute({ email: EMAIL });
      const held = await changeScopes.execute({ email: 'DEV@example.com', scopes: ['orders:read', 'pets:read'] });
      expect(held).toMatchObject({ id, scopes: ['pets:read', 'orders:read'] });
      expect(await getAccount.execute(id)).toEqual(held);
      const unknown = changeScopes.execute({ email: EMAIL, scopes: ['pets'] });
      await expect(unknown).rejects.toMatchObject({ code: 'invalid_parameter' });
      expect(await changeScopes.execute({ email: EMAIL, scopes: undefined })).toMatchObject({ scopes: undefined });
    });
  });
});

describe('an account that is closed', () => {
  it('has an address of its own that opens no account', async () => {
    const { openAccount } = setUp();
    const [one, other] = [closedEmail(1n as AccountId), closedEmail(2n as AccountId)];
    expect(one).not.toBe(other);
    for (const email of [one, other]) {
      await expect(openAccount.execute({ email })).rejects.toMatchObject({ code: 'invalid_parameter' });
    }
  });

  it('is closed only with its password, and not found afterwards', async () => {
    const { signUp, closeAccount, getAccount } = setUp();
    const { id } = await signUp.execute({ email: EMAIL, password: PASSWORD });
    expect(await closeAccount.execute({ accountId: id, password: 'a staple, correctly' })).toBe(false);
    expect(await getAccount.execute(id)).toBeDefined();
    expect(await closeAccount.execute({ accountId: id, password: PASSWORD })).toBe(true);
    expect(await getAccount.execute(id)).toBeUndefined();
  });
});

/** CRC-32 in six digits of base62. */
function checksum(text: string): string {
  return [5, 4, 3, 2, 1, 0].map((place) => BASE62.charAt(Math.floor(crc32(text) / 62 ** place) % 62)).join('');
}

describe('a key’s text', () => {
  const cryptography = new PredictableCryptography();

  it('names its environment and carries 190 bits of randomness and a checksum', () => {
    expect(generateKeyText('live', cryptography)).toMatch(/^aas_live_[0-9A-Za-z]{38}$/);
    expect(environmentOf(generateKeyText('staging', cryptography))).toBe('staging');
  });

  it('is invalid when one character is changed', () => {
    const text = generateKeyText('live', cryptography);
    fc.assert(
      fc.property(
        fc.nat(text.length - 1),
        fc.constantFrom('0', '9', 'A', 'Z', 'a', 'z', '_', '-'),
        (index, character) => {
          fc.pre(text[index] !== character);
          expect(environmentOf(text.slice(0, index) + character + text.slice(index + 1))).toBeUndefined();
        },
      ),
    );
  });

  it.each([
    ['letters of an environment', `aas_${'x'.repeat(16)}_${'0'.repeat(32)}`, 'x'.repeat(16)],
    ['an environment of 17 letters', `aas_${'x'.repeat(17)}_${'0'.repeat(32)}`, undefined],
    ['no environment', `aas__${'0'.repeat(32)}`, undefined],
    ['an environment in capitals', `aas_LIVE_${'0'.repeat(32)}`, undefined],
    ['31 characters of randomness', `aas_live_${'0'.repeat(31)}`, undefined],
    ['a character that base62 has not', `aas_live_-${'0'.repeat(31)}`, undefined],
    ['something before it', `xaas_live_${'0'.repeat(32)}`, undefined],
  ])('with the right checksum and %s is judged by its form', (_what, body, environment) => {
    expect(environmentOf(body + checksum(body))).toBe(environment);
  });

  it('is checked by the CRC-32 that zip and gzip use', () => {
    expect(crc32('123456789')).toBe(0xcbf43926);
    expect(crc32('')).toBe(0);
  });
});

describe('a key', () => {
  const at = (time: number | undefined): Instant | undefined => (time === undefined ? undefined : instant(time));

  it.each([
    ['active', undefined, undefined, undefined],
    ['expired', 10, undefined, undefined],
    ['active', 11, undefined, undefined],
    ['revoked', undefined, 10, undefined],
    ['revoked', undefined, 11, undefined],
    ['expired', 11, 11, undefined],
    ['disabled', 11, undefined, 9],
    ['expired', 10, undefined, 9],
    ['revoked', undefined, 10, 9],
  ])('is %s at 10 with expiry %s, revocation %s and disabled at %s', (state, expiresAt, revokedAt, disabledAt) => {
    const key = { expiresAt: at(expiresAt), revokedAt: at(revokedAt), disabledAt: at(disabledAt) };
    expect(keyState(key, instant(10))).toBe(state);
    expect(hasEnded(key, instant(10))).toBe(state === 'expired' || state === 'revoked');
  });

  it.each([
    [undefined, undefined, undefined],
    [5, undefined, 5],
    [undefined, 7, 7],
    [5, 7, 5],
    [7, 5, 5],
  ])('with expiry %s and revocation %s ends at %s, the earlier of both', (expiresAt, revokedAt, end) => {
    expect(endOf({ expiresAt: at(expiresAt), revokedAt: at(revokedAt) })).toBe(end);
  });

  it('may have no name, or one of 1 to 100 characters that can be read', () => {
    for (const name of [undefined, 'x', ' x ', 'x'.repeat(100)]) expect(keyName(name)).toBe(name);
    for (const name of ['', ' \t', 'x'.repeat(101), 'a\u0007b', '\u009f', '\u200b\u2060']) {
      expect(() => keyName(name)).toThrow(expect.objectContaining({ code: 'invalid_parameter' }));
    }
  });
});

describe('decisions on keys', () => {
  const [THEIRS, OTHERS] = [1n as AccountId, 2n as AccountId];
  const NOW = instant(Date.UTC(2026, 0, 1));
  const [EARLIER, SOON, LATE] = [later(NOW, -HOUR), later(NOW, HOUR), later(NOW, 60 * DAY)];
  const account: Account = {
    id: THEIRS,
    email: EMAIL,
    plan: PLANS.free,
    scopes: undefined,
    createdAt: EARLIER,
    credentialVersion: 3,
    provenAt: undefined,
  };
  const text = { hash: 'another hash', ending: 'stuv' };
  const key: ApiKey = {
    id: 7n as ApiKeyId,
    accountId: THEIRS,
    hash: 'a hash',
    ending: 'wxyz',
    name: 'till',
    scopes: ['pets:read'],
    createdAt: EARLIER,
    expiresAt: undefined,
    revokedAt: undefined,
    disabledAt: undefined,
    replacedBy: undefined,
    lastUsedAt: EARLIER,
  };
  const lasting = { ...key, expiresAt: LATE };
  const expired = { ...key, expiresAt: NOW };
  const revoked = { ...key, revokedAt: EARLIER };
  const disabled = { ...key, disabledAt: EARLIER };
  const id = { id: key.id };
  const theirs = { ...id, accountId: THEIRS };
  const others = { ...id, accountId: OTHERS };
  const of = (changed: ApiKey | undefined) => ({ account, key: changed });
  const at = <State, Command, Outcome>(decide: (state: State, command: Command, now: Instant) => Outcome) =>
    decisions({ it, expect }, (state: State, command: Command) => decide(state, command, NOW));

  describe('a new one', () => {
    const given = decisions({ it, expect }, decideIssue);
    const few: KeyHolder = { account, activeKeys: MOST_ACTIVE_KEYS - 1, madeToday: MOST_KEYS_A_DAY - 1 };
    const draft = { accountId: THEIRS, name: undefined, scopes: undefined, createdAt: NOW, expiresAt: LATE, ...text };
    const issue = { key: draft };
    const [active, today] = ['has 25 API keys that are active or disabled', 'has made 1000 API keys today'];
    given('24 keys and 999 made today', few).when('one is issued', issue).then('it is', draft);
    given('the version 3', few)
      .when('3 is wanted', { ...issue, credentialVersion: 3 })
      .then('it is issued', draft);
    given('the version 3', few)
      .when('2 is wanted', { ...issue, credentialVersion: 2 })
      .thenRefused('signed_out');
    given('no account', { ...few, account: undefined })
      .when('one is issued', issue)
      .thenRefused('not_found', 'id 1');
    given('25 keys', { ...few, activeKeys: 25 })
      .when('one is issued', issue)
      .thenRefused('too_many_keys', active);
    given('1,000 made today', { ...few, madeToday: 1_000 })
      .when('one is issued', issue)
      .thenRefused('too_many_keys', today);
  });

  describe('a rotation', () => {
    const given = at(decideRotation);
    const state = (old: ApiKey | undefined) => ({ account, activeKeys: 1, madeToday: 1, old });
    const rotate = { ...theirs, overlap: HOUR, text };
    const atOnce = { ...rotate, overlap: 0 };
    const { accountId, name, scopes } = key;
    const replacement = { accountId, name, scopes, createdAt: NOW, expiresAt: undefined, ...text };
    const ended = { ...key, expiresAt: NOW, revokedAt: NOW };
    const full = { ...state(key), activeKeys: 25 };
    const any = { ...id, overlap: HOUR, text };
    const no = 'no active API key that has not been rotated yet has the id 7';

    given('a key', state(key))
      .when('it is rotated', rotate)
      .then('it ends with the overlap', { old: { ...key, expiresAt: SOON }, replacement });
    given('a key that expires late', state(lasting))
      .when('it is rotated', rotate)
      .then('its replacement does', {
        old: { ...key, expiresAt: SOON },
        replacement: { ...replacement, expiresAt: LATE },
      });
    given('a key that expires soon', state({ ...key, expiresAt: later(NOW, 1) }))
      .when('it is rotated', rotate)
      .then('neither lives longer', {
        old: { ...key, expiresAt: later(NOW, 1) },
        replacement: { ...replacement, expiresAt: later(NOW, 1) },
      });
    given('a key', state(key))
      .when('it is rotated at once', atOnce)
      .then('it is also revoked', { old: ended, replacement });
    given('a key', state(key))
      .when('anybody’s is rotated', any)
      .then('it is', { old: { ...key, expiresAt: SOON }, replacement });
    given('25 keys', full).when('one is rotated', rotate).thenRefused('too_many_keys');
    given('25 keys', full).when('one is rotated at once', atOnce).then('there are 25', { old: ended, replacement });
    given('26 keys', { ...full, activeKeys: 26 })
      .when('one is rotated at once', atOnce)
      .thenRefused('too_many_keys');
    given('1,000 made today', { ...state(key), madeToday: 1_000 })
      .when('one is rotated', atOnce)
      .thenRefused('too_many_keys');
    given('no key', state(undefined)).when('it is rotated', rotate).thenRefused('not_found', no);
    given('a key', state(key))
      .when('others rotate it', { ...rotate, ...others })
      .thenRefused('not_found', no);
    given('a revoked key', state(revoked)).when('it is rotated', rotate).thenRefused('not_found', no);
    given('an expired key', state(expired)).when('it is rotated', rotate).thenRefused('not_found', no);
    given('a disabled key', state(disabled)).when('it is rotated', rotate).thenRefused('not_found', no);
    given('a key that is rotated', state({ ...lasting, replacedBy: 8n as ApiKeyId }))
      .when('it is again', rotate)
      .thenRefused('not_found', no);
    given('the version 3', state(key))
      .when('2 is wanted', { ...rotate, credentialVersion: 2 })
      .thenRefused('signed_out');
    given('the version 3', state(key))
      .when('others rotate it', { ...rotate, ...others, credentialVersion: 2 })
      .thenRefused('not_found', no);
    given('a closed account', { ...state(key), account: undefined })
      .when('one is rotated', rotate)
      .thenRefused('not_found', no);
  });

  describe('taking one back', () => {
    const given = at(decideRollback);
    const unseen = { ...lasting, id: 8n as ApiKeyId };
    const replaced = { ...key, replacedBy: unseen.id };
    const gone = { ...unseen, revokedAt: NOW };
    given('a key that replaces none', { key: unseen, replaced: undefined })
      .when('it is rolled back', unseen)
      .then('it is revoked', { key: gone });
    given('a key that has replaced another', { key: unseen, replaced: { ...replaced, expiresAt: SOON } })
      .when('it is rolled back', unseen)
      .then('the other works until its former end', { key: gone, replaced: lasting });
    given('a key that has replaced another at once', {
      key: unseen,
      replaced: { ...replaced, expiresAt: NOW, revokedAt: NOW },
    })
      .when('it is rolled back', unseen)
      .then('the other works', { key: gone, replaced: lasting });
    given('a key that has replaced one revoked since', {
      key: unseen,
      replaced: { ...replaced, expiresAt: SOON, revokedAt: NOW },
    })
      .when('it is rolled back', unseen)
      .then('the other stays revoked', { key: gone, replaced: { ...lasting, revokedAt: NOW } });
    given('no key', { key: undefined, replaced: undefined }).when('it is rolled back', unseen).thenRefused('not_found');
  });

  describe('a revocation', () => {
    const given = at(decideRevocation);
    given('a key', of(key))
      .when('it is revoked', theirs)
      .then('it is from now on', { ...key, revokedAt: NOW });
    given('a key', of(key))
      .when('anybody’s is revoked', id)
      .then('it is', { ...key, revokedAt: NOW });
    given('a revoked key', of(revoked)).when('it is revoked', theirs).then('its first instant stays', revoked);
    given('an expired key', of(expired))
      .when('it is revoked', theirs)
      .then('it is', { ...expired, revokedAt: NOW });
    given('the version 3', of(key))
      .when('2 is wanted', { ...theirs, credentialVersion: 2 })
      .thenRefused('signed_out');
    given('a closed account', { account: undefined, key })
      .when('3 is wanted', { ...theirs, credentialVersion: 3 })
      .thenRefused('signed_out');
    given('a key', of(key)).when('others revoke it', others).thenRefused('not_found', 'no API key has the id 7');
    given('no key', of(undefined)).when('it is revoked', id).thenRefused('not_found', 'no API key has the id 7');
  });

  describe('disabling', () => {
    const given = at(decideDisabling);
    const [disable, enable] = [true, false].map((isDisabled) => ({ ...theirs, isDisabled }));
    if (disable === undefined || enable === undefined) throw new Error('there are two');
    const no = 'no API key that still works has the id 7';
    given('a key', of(key))
      .when('it is disabled', disable)
      .then('it is from now on', { ...key, disabledAt: NOW });
    given('a disabled key', of(disabled)).when('it is disabled', disable).then('its first instant stays', disabled);
    given('a disabled key', of(disabled)).when('it is enabled', enable).then('it is', key);
    given('a key', of(key)).when('it is enabled', enable).then('it stays as it is', key);
    for (const [what, ended] of [
      ['a revoked key', revoked],
      ['an expired key', expired],
      ['no key', undefined],
    ] as const) {
      given(what, of(ended)).when('it is disabled', disable).thenRefused('not_found', no);
      given(what, of(ended)).when('it is enabled', enable).thenRefused('not_found', no);
    }
    given('the version 3', of(disabled))
      .when('2 is wanted', { ...enable, credentialVersion: 2 })
      .thenRefused('signed_out');
    given('a key', of(key))
      .when('others disable it', { ...disable, ...others })
      .thenRefused('not_found', no);
  });

  describe('renaming', () => {
    const given = decisions({ it, expect }, decideRenaming);
    given('a key', of(key))
      .when('it is renamed', { ...theirs, name: 'desk' })
      .then('it is', { ...key, name: 'desk' });
    given('a key', of(key))
      .when('its name goes', { ...theirs, name: undefined })
      .then('it has none', { ...key, name: undefined });
    given('a revoked key', of(revoked))
      .when('it is renamed', { ...theirs, name: 'x' })
      .then('it is', { ...revoked, name: 'x' });
    given('the version 3', of(key))
      .when('2 is wanted', { ...theirs, name: 'x', credentialVersion: 2 })
      .thenRefused('signed_out');
    given('a key', of(key))
      .when('others rename it', { ...others, name: 'x' })
      .thenRefused('not_found', 'no API key has the id 7');
    given('no key', of(undefined))
      .when('it is renamed', { ...id, name: 'x' })
      .thenRefused('not_found');
  });

  describe('the authority of a request when its change is stored', () => {
    const given = decisions({ it, expect }, (state: Authority, actor: Actor) => {
      requireAuthority(actor, state, ['pets:read', 'orders:read'], NOW);
    });
    const all = { ...key, scopes: undefined };
    const both = { account, key: all };
    const [byKey, byPerson] = [{ keyId: key.id }, { credentialVersion: 3 }];
    given('a key', both).when('it asks', byKey).then('it may', undefined);
    given('the version 3', both).when('3 asks', byPerson).then('it may', undefined);
    given('nothing', { account: undefined, key: undefined })
      .when('the operator asks', 'operator')
      .then('it is fine', undefined);
    given('no key', { account, key: undefined }).when('it asks', byKey).thenRefused('invalid_api_key');
    given('a closed account', { account: undefined, key: all })
      .when('its key asks', byKey)
      .thenRefused('invalid_api_key');
    given('a revoked key', { account, key: revoked }).when('it asks', byKey).thenRefused('revoked_api_key');
    given('an expired key', { account, key: expired }).when('it asks', byKey).thenRefused('expired_api_key');
    given('a disabled key', { account, key: disabled }).when('it asks', byKey).thenRefused('disabled_api_key');
    given('a key without a scope', { account, key })
      .when('it asks', byKey)
      .thenRefused('insufficient_scope', 'the API key lacks the scope orders:read');
    given('an account without a scope', { account: { ...account, scopes: ['orders:read'] }, key: all })
      .when('its key asks', byKey)
      .thenRefused('insufficient_scope', 'the account lacks the scope pets:read');
    given('an account without a scope', { account: { ...account, scopes: ['orders:read'] }, key: undefined })
      .when('a person asks', byPerson)
      .thenRefused('insufficient_scope', 'the account lacks the scope pets:read');
    given('the version 3', both).when('2 asks', { credentialVersion: 2 }).thenRefused('signed_out');
    given('a closed account', { account: undefined, key: undefined })
      .when('a person asks', byPerson)
      .thenRefused('signed_out');
  });

  describe('showing', () => {
    const given = decisions({ it, expect }, requireTheirs);
    given('a key', key).when('its account asks', theirs).then('it is shown', key);
    given('a key', key).when('others ask', others).thenRefused('not_found', 'no API key has the id 7');
  });
});

describe('keys of an account', () => {
  it('are purged 400 days after they ended, and active ones never', async () => {
    const { clock, issue, revokeKey, listKeys, purgeExpired } = setUp();
    const [lasting, revoked] = [await issue(), await issue()];
    await revokeKey.execute({ id: revoked.key.id });
    clock.advance(400 * DAY - 1);
    expect(await purgeExpired.execute('keys')).toBe(0);
    clock.advance(1);
    expect(await purgeExpired.execute('keys')).toBe(1);
    expect((await listKeys.execute()).map(({ key }) => key.id)).toEqual([lasting.key.id]);
  });

  describe('a key', () => {
    it('is stored only as a hash', async () => {
      const { issue, listKeys } = setUp();
      const { text } = await issue();
      const kept = JSON.stringify(await listKeys.execute(), (_, value: unknown) =>
        typeof value === 'bigint' ? `${value}` : value,
      );
      expect(kept).not.toContain(text.slice(9, 41));
    });

    it('that was never issued is refused, without a look-up if its checksum is wrong', async () => {
      const { ports, authenticate } = setUp();
      let lookUps = 0;
      const counting = { ...ports.apiKeys, findByHash: () => Promise.resolve((lookUps += 1) && undefined) };
      const counted = createApplication({
        ...ports,
        apiKeys: counting as unknown as typeof ports.apiKeys,
      }).authenticate;
      const unknown = generateKeyText('live', ports.cryptography);
      await expect((async () => authenticate.execute(unknown))()).rejects.toMatchObject({ code: 'invalid_api_key' });
      await expect((async () => counted.execute(`${unknown.slice(0, -1)}-`))()).rejects.toMatchObject({
        code: 'invalid_api_key',
        message: 'the API key is not valid',
      });
      expect(lookUps).toBe(0);
      await expect((async () => counted.execute(unknown))()).rejects.toMatchObject({ code: 'invalid_api_key' });
      expect(lookUps).toBe(1);
    });

    it('is looked up and checked for each request', async () => {
      const { authenticate, issue, disableKey, revokeKey, clock } = setUp();
      const { key, text } = await issue({ expiresAt: later(clock.now(), HOUR) });
      const { id, accountId } = key;
      expect(await authenticate.execute(text)).toMatchObject({ keyId: id, accountId });
      expect(await disableKey.execute({ id, accountId, isDisabled: true })).toMatchObject({ id });
      const disabled = { code: 'disabled_api_key', kind: 'unauthenticated' };
      await expect((async () => authenticate.execute(text))()).rejects.toMatchObject(disabled);
      await disableKey.execute({ id, isDisabled: false });
      expect(await authenticate.execute(text)).toMatchObject({ keyId: id });
      clock.advance(HOUR);
      await expect((async () => authenticate.execute(text))()).rejects.toMatchObject({ code: 'expired_api_key' });
      clock.advance(1);
      await revokeKey.execute({ id });
      await expect((async () => authenticate.execute(text))()).rejects.toMatchObject({ code: 'revoked_api_key' });
    });

    it('of another environment is refused with a message that says so', async () => {
      const { ports, authenticate } = setUp();
      await expect(
        (async () => authenticate.execute(generateKeyText('staging', ports.cryptography)))(),
      ).rejects.toMatchObject({
        code: 'invalid_api_key',
        message: 'the API key is for the staging environment, this is live',
      });
    });

    it('is neither issued nor changed in a session of an earlier password', async () => {
      const { issue, listKeys, ...application } = setUp();
      const { key } = await issue({ credentialVersion: 0 });
      const theirs = { id: key.id, accountId: key.accountId, credentialVersion: 1 };
      for (const attempt of [
        () => issue({ credentialVersion: 1 }),
        () => application.rotateKey.execute(theirs),
        () => application.renameKey.execute({ ...theirs, name: 'other' }),
        () => application.disableKey.execute({ ...theirs, isDisabled: true }),
        () => application.revokeKey.execute(theirs),
      ])
        await expect(attempt()).rejects.toMatchObject({ code: 'signed_out', kind: 'unauthenticated' });
      expect((await listKeys.execute()).map((each) => each.key)).toEqual([key]);
    });

    it('is not issued with a past expiry, an unreadable name or unknown scopes', async () => {
      const { issue, clock } = setUp();
      for (const wrong of [{ expiresAt: clock.now() }, { name: ' ' }, { scopes: ['pets'] }])
        await expect(issue(wrong)).rejects.toMatchObject({ code: 'invalid_parameter' });
      const right = { expiresAt: later(clock.now(), 1), scopes: ['pets:read'] };
      expect(await issue(right)).toMatchObject({ key: right });
    });

    it.each([
      [undefined, DAY],
      [30 * DAY, 30 * DAY],
      [0, 0],
    ])('that is rotated with an overlap of %s ms works %d ms beside its replacement', async (overlap, works) => {
      const { issue, authenticate, rotateKey, clock } = setUp();
      const old = await issue({ name: 'ci' });
      const { key, text, replaced } = await rotateKey.execute({ id: old.key.id, overlap });
      expect(replaced).toMatchObject({ id: old.key.id, expiresAt: clock.now() + works });
      expect(await authenticate.execute(text)).toMatchObject({ keyId: key.id, key: { name: 'ci' } });
      clock.advance(works);
      await expect((async () => authenticate.execute(old.text))()).rejects.toMatchObject({ code: 'expired_api_key' });
    });

    it('whose text could not be shown is rolled back, and the one that it replaced goes on as it was', async () => {
      const { issue, rotateKey, rollBackKey, authenticate, listKeys } = setUp();
      const old = await issue();
      const replacement = await rotateKey.execute({ id: old.key.id });
      await rollBackKey.execute(replacement);
      await expect((async () => authenticate.execute(replacement.text))()).rejects.toMatchObject({
        code: 'revoked_api_key',
      });
      expect((await listKeys.execute())[0]?.key).toEqual(old.key);
    });

    it.each([-1, 30 * DAY + 1, Number.NaN])('is not rotated with an overlap of %d ms', async (overlap) => {
      await expect(setUp().rotateKey.execute({ id: 1n, overlap })).rejects.toMatchObject({ code: 'invalid_parameter' });
    });

    it('is shown in pages of 25, newest first, by state and name', async () => {
      const { issue, showKeys, revokeKey } = setUp();
      const { key: lasting } = await issue({ name: 'Shop' });
      const { accountId } = lasting;
      const all: bigint[] = [lasting.id];
      for (let count = 0; count < 26; count += 1) {
        const { key } = await issue();
        await revokeKey.execute({ id: key.id });
        all.unshift(key.id);
      }
      const show = async (input: Partial<Parameters<typeof showKeys.execute>[0]> = {}) => {
        const { items, ...page } = await showKeys.execute({ accountId, ...input });
        return { ids: items.map(({ id }) => id), ...page };
      };
      const first = await show();
      expect(first).toMatchObject({ ids: all.slice(0, 25), previous: undefined });
      const last = await show({ after: first.next });
      expect(last).toMatchObject({ ids: all.slice(25), next: undefined });
      expect(await show({ before: last.previous })).toEqual(first);
      for (const filter of [{ states: ['active', 'disabled'] }, { name: 'sho' }] as const)
        expect((await show(filter)).ids).toEqual([lasting.id]);
    });

    it('is shown with the end of its ban, and with what it has called, until it has ended', async () => {
      const { issue, ports, showKeys, showKey, authenticate, recordRequest, meterRequest, revokeKey, clock } = setUp();
      const [{ key, text }, other] = [await issue(), await issue()];
      const { id, accountId } = key;
      const caller = await authenticate.execute(text);
      recordRequest.execute(caller, { isUse: true, operation: 'list' });
      for (let sent = 0; sent < 60 + 50; sent += 1) await meterRequest.execute(caller);
      const bannedUntil = later(clock.now(), 5 * MINUTE);
      const operations = [{ operation: 'list', lastUsedAt: startOf(MINUTE, clock.now()) }];
      const bansOf = jest.spyOn(ports.requests, 'bansOf');
      expect(await showKeys.execute({ accountId })).toMatchObject({
        bans: new Map([[id, bannedUntil]]),
        operations: new Map([[id, operations]]),
      });
      expect(bansOf).toHaveBeenCalledTimes(1);
      expect(await showKey.execute({ id, accountId })).toMatchObject({ key: { id }, bannedUntil, operations });
      const unused = await showKey.execute({ id: other.key.id, accountId });
      expect(unused).toMatchObject({ bannedUntil: undefined, operations: [] });
      await revokeKey.execute({ id });
      expect(await showKeys.execute({ accountId })).toMatchObject({ bans: new Map(), operations: new Map() });
      expect((await showKey.execute({ id, accountId })).bannedUntil).toBeUndefined();
    });

    it('gets another name, or none', async () => {
      const { issue, renameKey, showKey } = setUp();
      const { key } = await issue({ name: 'laptop' });
      const { id, accountId } = key;
      expect(await renameKey.execute({ id, accountId, name: 'desk' })).toEqual({ ...key, name: 'desk' });
      expect((await showKey.execute({ id, accountId })).key.name).toBe('desk');
      await expect(renameKey.execute({ id, name: '' })).rejects.toMatchObject({ code: 'invalid_parameter' });
    });

    it('can be changed, shown and listed only by its own account', async () => {
      const { issue, renameKey, disableKey, showKey, revokeKey, rotateKey, listKeys, openAccount } = setUp();
      const { key } = await issue({ name: 'laptop' });
      const { id: accountId } = await openAccount.execute({ email: 'other@example.com' });
      const theirs = { id: key.id, accountId };
      for (const attempt of [
        renameKey.execute({ ...theirs, name: 'mine' }),
        disableKey.execute({ ...theirs, isDisabled: true }),
        revokeKey.execute(theirs),
        rotateKey.execute(theirs),
        showKey.execute(theirs),
        showKey.execute({ ...theirs, id: 99n }),
      ]) {
        await expect(attempt).rejects.toMatchObject({ code: 'not_found' });
      }
      const listed = async (input: object) => (await listKeys.execute(input)).map((each) => each.key.id);
      expect(await listed({ accountId: key.accountId })).toEqual([key.id]);
      expect(await listed({ email: 'DEV@example.com' })).toEqual([key.id]);
      for (const other of [{ accountId }, { email: 'nobody@example.com' }]) expect(await listed(other)).toEqual([]);
      expect((await showKey.execute({ id: key.id, accountId: key.accountId })).key).toEqual(key);
    });
  });
});
