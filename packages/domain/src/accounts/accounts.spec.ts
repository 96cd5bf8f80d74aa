import { inMemoryApplication, testPolicy } from '../testing/in-memory-application.js';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createApplication } from '../application.js';
import { instant } from '../kernel/clock.js';
import { anAccount } from '../testing/builders.js';
import { decisions, inMemoryPorts } from '../testing/index.js';
import { closedEmail, decidePlan, decideScopes } from './account.js';
import { describePlan, plan, type PlanName, PLANS, samePlan } from './plan.js';
import {
  describeScopes,
  hasScopes,
  readScopes,
  requireScopes,
  type Scope,
  scopeList,
  SCOPES,
  sharedScopes,
} from './scope.js';

const EMAIL = 'dev@example.com';
const refusal = (message = '') =>
  expect.objectContaining({ code: 'invalid_parameter', message: expect.stringContaining(message) });

describe('an account of the operator', () => {
  it('is found again however its address is written, but not with a different plan', async () => {
    const { openAccount } = inMemoryApplication();
    const opened = await openAccount.execute({ email: EMAIL });
    expect(await openAccount.execute({ email: 'Dev@Example.COM' })).toEqual(opened);
    const another = openAccount.execute({ email: EMAIL, plan: PLANS.pro });
    await expect(another).rejects.toEqual(refusal('plan of the account dev@example.com: free'));
  });

  it.each([
    ...['', 'dev', '@example.com', 'dev@', 'dev@example', 'dev@.com', 'dev@example.', 'a@b@c.d', 'a@b.c@d'],
    ...[' dev@example.com', 'a b@example.com', 'dev@exa mple.com', 'dev@example.c om', 'dev@example.com '],
    ...['\0dev@example.com', 'dev@\0example.com', 'dev@example.\u009fcom', 'dev@example.com\0'],
    ...[`${'x'.repeat(65)}@example.com`, `dev@${'x'.repeat(247)}.com`, closedEmail(anAccount().id)],
  ])('is not opened for %j', async (email) => {
    const { openAccount } = inMemoryApplication();
    await expect(openAccount.execute({ email })).rejects.toEqual(refusal());
  });

  it.each(['a@b.c', 'dev+1@mail.example.com', `${'x'.repeat(64)}@example.com`, `dev@${'x'.repeat(246)}.com`])(
    'is opened for %j, with all scopes',
    async (email) => {
      const { openAccount } = createApplication(inMemoryPorts(), testPolicy(), { signupScopes: ['pets:read'] });
      expect(await openAccount.execute({ email })).toMatchObject({ email, scopes: undefined });
    },
  );

  it('is put on another plan and held to a list of scopes in order, from the next request on', async () => {
    const application = inMemoryApplication();
    const { id } = await application.openAccount.execute({ email: EMAIL });
    const { text } = await application.issueKey.execute({ accountId: id });
    const changed = { email: 'DEV@example.com', plan: PLANS.pro, scopes: ['orders:read', 'pets:read'] };
    await application.changePlan.execute(changed);
    const account = await application.changeScopes.execute(changed);
    expect(account).toMatchObject({ id, email: EMAIL, plan: PLANS.pro, scopes: ['pets:read', 'orders:read'] });
    expect((await application.authenticate.execute(text)).account).toEqual(account);
    await expect(application.changePlan.execute({ ...changed, email: 'dev' })).rejects.toEqual(refusal());
    await expect(application.changeScopes.execute({ ...changed, scopes: ['pets'] })).rejects.toEqual(refusal());
  });
});

describe('the decision to change a plan', () => {
  const given = decisions({ it, expect }, decidePlan);
  const change = { email: EMAIL, plan: PLANS.pro, isUnprovenFine: false };
  const anyhow = { ...change, isUnprovenFine: true };
  const [unproven, proven] = [anAccount(), anAccount({ provenAt: instant(1) })];
  const operators = anAccount({ credentialVersion: 0 });
  const pro = { plan: PLANS.pro };
  given('a proven address', proven)
    .when('it changes', change)
    .then('it does', anAccount({ ...proven, ...pro }));
  given('the operator’s', operators)
    .when('it changes', change)
    .then('it does', anAccount({ ...operators, ...pro }));
  given('an unproven address', unproven).when('it changes', change).thenRefused('address_unproven', EMAIL);
  given('an unproven address', unproven).when('that is fine', anyhow).then('it changes', anAccount(pro));
  given('no account', undefined).when('it changes', anyhow).thenRefused('not_found', `the address ${EMAIL}`);
});

describe('the decision to hold an account to scopes', () => {
  const given = decisions({ it, expect }, decideScopes);
  const held = anAccount({ scopes: ['pets:read'] });
  const release = { email: EMAIL, scopes: undefined };
  given('an account', anAccount()).when('it is held to some', held).then('it is', held);
  given('an account that is held', held).when('it is let go', release).then('it is', anAccount());
  given('no account', undefined).when('it is held', held).thenRefused('not_found', `the address ${EMAIL}`);
});

describe('a plan', () => {
  it.each<[PlanName, number, number]>([
    ['free', 60, 1_000],
    ['pro', 300, 10_000],
    ['business', 1_000, 100_000],
  ])('%s allows %d requests a minute and %d a day', (name, perMinute, perDay) => {
    expect(plan(name)).toEqual({ name, perMinute, perDay });
  });

  it.each([1, 2 ** 31 - 1])('enterprise may allow %d, by the minute and by the day', (most) => {
    const limits = { perMinute: most, perDay: most };
    expect(plan('enterprise', limits)).toEqual({ name: 'enterprise', ...limits });
  });

  it('is described by its name, and by its numbers where the name does not fix them', () => {
    const one = plan('enterprise', { perMinute: 60, perDay: 1_000 });
    expect(describePlan(one)).toBe('enterprise (60 a minute, 1000 a day)');
    expect(describePlan(PLANS.pro)).toBe('pro');
    expect(describePlan({ ...PLANS.pro, perDay: 5 })).toBe('pro (300 a minute, 5 a day)');
    expect(samePlan(one, plan('enterprise', one))).toBe(true);
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
    expect(() => plan(name as PlanName, limits)).toThrow(refusal());
  });
});

describe('a request has the scopes of an operation', () => {
  const anyScopes = fc.option(fc.subarray([...SCOPES], { minLength: 1 }), { nil: undefined });

  it('exactly where its key, if there is one, and its account both name each or name none', () => {
    fc.assert(
      fc.property(fc.option(anyScopes), anyScopes, fc.subarray([...SCOPES]), (ofKey, ofAccount, needed) => {
        const account = { scopes: ofAccount };
        const holders = ofKey === null ? { account } : { account, key: { scopes: ofKey } };
        const isNamed = (scope: Scope) =>
          [ofKey ?? undefined, ofAccount].every((scopes) => scopes?.includes(scope) ?? true);
        expect(hasScopes(holders, needed)).toBe(needed.every(isNamed));
        const shared = sharedScopes(holders);
        expect(shared ?? SCOPES).toEqual(SCOPES.filter(isNamed));
        expect(shared === undefined).toBe((ofKey ?? undefined) === undefined && ofAccount === undefined);
      }),
    );
  });

  it.each([
    ['the API key lacks the scope pets:manage', ['orders:write'], undefined, ['pets:manage']],
    [
      'the API key lacks the scopes orders:write and pets:manage',
      ['pets:read'],
      undefined,
      ['orders:write', 'pets:manage'],
    ],
    ['the account lacks the scope pets:manage', undefined, ['orders:write'], ['pets:manage']],
    ['the account lacks the scope pets:manage', ['pets:read'], ['orders:write'], ['pets:manage']],
  ] as const)('or is refused: %s', (message, ofKey, ofAccount, scopes) => {
    const insufficient = { code: 'insufficient_scope', kind: 'forbidden', scopes, message };
    expect(() => {
      requireScopes({ key: { scopes: ofKey }, account: { scopes: ofAccount } }, ['orders:write', 'pets:manage']);
    }).toThrow(expect.objectContaining(insufficient));
  });
});

describe('a list of scopes', () => {
  it('is in one order, however it was written, and read again as it is described', () => {
    expect(scopeList(['orders:read', 'pets:read'])).toEqual(['pets:read', 'orders:read']);
    for (const scopes of [undefined, SCOPES, ['pets:read', 'orders:read'] as const])
      expect(readScopes(describeScopes(scopes))).toEqual(scopes);
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
    expect(() => scopeList(names)).toThrow(refusal('scopes must be some of pets:read, pets:write, '));
    expect(() => readScopes(names.join(','))).toThrow(refusal('scopes must be some of pets:read, pets:write, '));
  });
});
