import { describe, expect, it } from '@jest/globals';
import { createApplication } from '../application.js';
import { HOUR, type instant, MINUTE, SECOND } from '../kernel/clock.js';
import { inMemoryPorts } from '../testing/index.js';
import { describePlan, limitsOf, plan, type PlanName, samePlan } from './plan.js';
import fc from 'fast-check';
import { describeScopes, hasScope, readScopes, requireScope, scopeList, SCOPES, sharedScopes } from './scope.js';
import { type AccountId, closedEmail } from './account.js';

const EMAIL = 'dev@example.com';

function setUp() {
  const ports = inMemoryPorts();
  const application = createApplication(ports);
  const issue = async (input: { name?: string; expiresAt?: ReturnType<typeof instant> } = {}) => {
    const account = await application.openAccount.execute({ email: EMAIL });
    return application.issueKey.execute({ accountId: account.id, ...input });
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
    expect(changed).toMatchObject({ email: EMAIL, plan: { name: 'pro' } });
    for (const { text } of keys) expect((await authenticate.execute(text)).account).toEqual(changed);
  });

  it('that does not exist cannot change its plan', async () => {
    const { changePlan, listKeys, openAccount } = setUp();
    await expect(changePlan.execute({ email: EMAIL, plan: plan('pro') })).rejects.toMatchObject({ code: 'not_found' });
    await expect(changePlan.execute({ email: 'dev', plan: plan('pro') })).rejects.toMatchObject({
      code: 'invalid_parameter',
    });
    expect(await listKeys.execute()).toEqual([]);
    expect((await openAccount.execute({ email: EMAIL })).plan).toEqual({ name: 'free' });
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

describe('a plan', () => {
  it.each<[PlanName, number, number]>([
    ['free', 60, 1_000],
    ['pro', 300, 10_000],
    ['business', 1_000, 100_000],
  ])('%s allows %d requests a minute and %d a day', (name, perMinute, perDay) => {
    expect(limitsOf(plan(name))).toEqual({ perMinute, perDay });
  });

  it('enterprise allows the limits it was given', () => {
    expect(describePlan(plan('enterprise', { perMinute: 5, perDay: 7 }))).toBe('enterprise (5 a minute, 7 a day)');
  });

  it.each([1, 2 ** 31 - 1])('enterprise may allow %d, by the minute and by the day', (most) => {
    const limits = { perMinute: most, perDay: most };
    expect(limitsOf(plan('enterprise', limits))).toEqual(limits);
  });

  it('is another one where its name or one of its two numbers differs', () => {
    const one = plan('enterprise', { perMinute: 60, perDay: 1_000 });
    expect(samePlan(one, plan('enterprise', limitsOf(one)))).toBe(true);
    expect(samePlan(one, plan('enterprise', { perMinute: 61, perDay: 1_000 }))).toBe(false);
    expect(samePlan(one, plan('enterprise', { perMinute: 60, perDay: 1_001 }))).toBe(false);
    expect(samePlan(one, plan('free'))).toBe(false);
  });

  it.each([
    ['enterprise without numbers', 'enterprise', {}],
    ['enterprise without a number for the day', 'enterprise', { perMinute: 5 }],
    ['enterprise without a number for the minute', 'enterprise', { perDay: 5 }],
    ['enterprise with a zero', 'enterprise', { perMinute: 0, perDay: 5 }],
    ['enterprise with a fraction', 'enterprise', { perMinute: 1.5, perDay: 5 }],
    ['enterprise with 2^31', 'enterprise', { perMinute: 5, perDay: 2 ** 31 }],
    ['another plan with numbers', 'pro', { perMinute: 5, perDay: 5 }],
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
      ['an empty name', ['']],
      ['an unknown scope', ['pets:read', 'pets:delete']],
      ['a scope in capitals', ['Pets:Read']],
      ['a scope with a space', [' pets:read']],
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

  const EMAIL = 'dev@example.com';
  const PASSWORD = 'a horse, a battery';

  function setUp(options?: Parameters<typeof createApplication>[1]) {
    const application = createApplication(inMemoryPorts(), options);
    const issue = async (scopes?: readonly string[]) => {
      const { id: accountId } = await application.openAccount.execute({ email: EMAIL });
      return application.issueKey.execute({ accountId, scopes });
    };
    return { ...application, issue };
  }

  describe('a key', () => {
    it('is not made with a list that names no scope, or an unknown one', async () => {
      const { issue, listKeys } = setUp();
      for (const scopes of [[], ['pets']])
        await expect(issue(scopes)).rejects.toMatchObject({ code: 'invalid_parameter' });
      expect(await listKeys.execute()).toEqual([]);
    });

    it('may ask for a scope that its account lacks, and has it once the account has', async () => {
      const { issue, holdToScopes, authenticate } = setUp();
      const { text } = await issue(['pets:read', 'pets:write']);
      await holdToScopes.execute({ email: EMAIL, scopes: ['pets:read', 'orders:read'] });
      const before = await authenticate.execute(text);
      expect(SCOPES.filter((scope) => hasScope(before, scope))).toEqual(['pets:read']);
      await holdToScopes.execute({ email: EMAIL, scopes: undefined });
      const after = await authenticate.execute(text);
      expect(SCOPES.filter((scope) => hasScope(after, scope))).toEqual(['pets:read', 'pets:write']);
    });

    it.each([undefined, ['pets:read']])('keeps its scopes (%s) when it is rotated, again and again', async (scopes) => {
      const { issue, rotateKey, authenticate } = setUp();
      let { key } = await issue(scopes);
      for (const overlap of [0, HOUR]) {
        const rotated = await rotateKey.execute({ id: key.id, overlap });
        expect((await authenticate.execute(rotated.text)).key.scopes).toEqual(scopes);
        ({ key } = rotated);
      }
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

    it('is found by its address, however it is written, and must exist', async () => {
      const { openAccount, holdToScopes, getAccount } = setUp();
      const { id } = await openAccount.execute({ email: EMAIL });
      const held = await holdToScopes.execute({ email: 'DEV@example.com', scopes: ['orders:read', 'pets:read'] });
      expect(held).toMatchObject({ id, scopes: ['pets:read', 'orders:read'] });
      expect(await getAccount.execute(id)).toEqual(held);
      for (const [email, scopes, code] of [
        ['nobody@example.com', ['pets:read'], 'not_found'],
        ['dev', ['pets:read'], 'invalid_parameter'],
        [EMAIL, [], 'invalid_parameter'],
        [EMAIL, ['pets'], 'invalid_parameter'],
      ] as const)
        await expect(holdToScopes.execute({ email, scopes })).rejects.toMatchObject({ code });
      expect(await getAccount.execute(id)).toEqual(held);
    });
  });
});

describe('limits on attempts', () => {
  const LIMIT = { most: 2, within: MINUTE };

  function setUp() {
    const ports = inMemoryPorts();
    const { limitAttempts, purgeExpired } = createApplication(ports);
    const attempt = (subject = 'dev@example.com') => limitAttempts.execute(subject, LIMIT);
    return { limitAttempts, purgeExpired, attempt, clock: ports.clock };
  }

  describe('attempts', () => {
    it('are as many as the limit says within any span of its length, and then say how long to wait', async () => {
      const { attempt, clock } = setUp();
      expect(await attempt()).toBeUndefined();
      clock.advance(20 * SECOND);
      expect(await attempt()).toBeUndefined();
      expect(await attempt()).toBe(40 * SECOND);
      clock.advance(40 * SECOND - 1);
      expect(await attempt()).toBe(1);
      clock.advance(1);
      expect(await attempt()).toBeUndefined();
      expect(await attempt()).toBe(20 * SECOND);
    });

    it('that were right are taken back one by one, or all at once', async () => {
      const { limitAttempts, attempt } = setUp();
      const subjects = ['dev@example.com', '192.0.2.1'];
      for (const subject of [...subjects, ...subjects]) await attempt(subject);
      await limitAttempts.takeBack('dev@example.com');
      expect(await attempt()).toBeUndefined();
      expect(await attempt()).toBe(MINUTE);
      await limitAttempts.clear(subjects);
      for (const subject of [...subjects, ...subjects]) expect(await attempt(subject)).toBeUndefined();
    });

    it('that no longer count are cleared away', async () => {
      const { attempt, purgeExpired, clock } = setUp();
      await attempt();
      expect(await purgeExpired.execute('attempts')).toBe(0);
      clock.advance(MINUTE);
      expect(await purgeExpired.execute('attempts')).toBe(1);
    });
  });
});

describe('an account that is closed', () => {
  const [PASSWORD, OTHER] = ['a horse, a battery', 'a staple, correctly'];

  it('has an address of its own that opens no account', async () => {
    const { openAccount } = setUp();
    const [one, other] = [closedEmail(1n as AccountId), closedEmail(2n as AccountId)];
    expect(one).not.toBe(other);
    for (const email of [one, other]) {
      await expect(openAccount.execute({ email })).rejects.toMatchObject({ code: 'invalid_parameter' });
    }
  });

  it('is closed only with its password, and not found afterwards', async () => {
    const { signUp, openAccount, closeAccount, getAccount } = setUp();
    const { id } = await signUp.execute({ email: EMAIL, password: PASSWORD });
    const operators = await openAccount.execute({ email: 'operator@example.com' });
    for (const accountId of [id, operators.id]) {
      expect(await closeAccount.execute({ accountId, password: OTHER })).toBe(false);
      expect(await getAccount.execute(accountId)).toBeDefined();
    }
    expect(await closeAccount.execute({ accountId: 99n as AccountId, password: PASSWORD })).toBe(false);
    expect(await closeAccount.execute({ accountId: id, password: PASSWORD })).toBe(true);
    expect(await getAccount.execute(id)).toBeUndefined();
  });
});
