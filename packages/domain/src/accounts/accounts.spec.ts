import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type ApplicationOptions, createApplication } from '../application.js';
import { instant } from '../kernel/clock.js';
import { decisions, inMemoryPorts } from '../testing/index.js';
import { type Account, type AccountId, closedEmail, decidePlan, decideScopes } from './account.js';
import type { IssueKeyInput } from './keys/issue-key.js';
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
