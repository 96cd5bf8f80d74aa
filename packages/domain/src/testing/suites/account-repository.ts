import type { AccountRepository } from '../../accounts/account-repository.js';
import { FIXED_PLANS, type Plan } from '../../accounts/plan.js';
import { describeScopes, SCOPES, type Scopes } from '../../accounts/scope.js';
import { instant } from '../../kernel/clock.js';
import { atOnce, NOON, Unique } from './fixtures.js';
import type { Open, Opened, TestFramework } from './framework.js';

/** The guarantees of every `AccountRepository`. */
export function accountRepositorySuite(framework: TestFramework, name: string, open: Open<'accounts'>): void {
  const { describe, it, beforeAll, afterAll, expect } = framework;
  describe(`an account repository (${name})`, () => {
    const unique = new Unique();
    let opened: Opened<'accounts'>;
    let accounts: AccountRepository;
    beforeAll(async () => {
      opened = await open();
      accounts = opened.ports.accounts;
    });
    afterAll(() => opened.close());

    const kept: readonly Plan[] = [
      ...FIXED_PLANS.map((name) => ({ name })),
      { name: 'enterprise', perMinute: 5, perDay: 2_147_483_647 },
    ];
    for (const plan of kept)
      it(`keeps an account on the plan ${JSON.stringify(plan)}`, async () => {
        const email = `${plan.name}@example.com`;
        const account = await accounts.open({ ...unique.account(email), plan });
        expect(account).toEqual({
          id: account.id,
          email,
          plan,
          scopes: undefined,
          createdAt: NOON,
          credentialVersion: 0,
          provenAt: undefined,
        });
        expect(typeof account.id).toBe('bigint');
        expect(await accounts.findByEmail(email)).toEqual(account);
        expect(await accounts.findById(account.id)).toEqual(account);
      });

    const held: readonly Scopes[] = [
      undefined,
      ...SCOPES.map((scope) => [scope]),
      ['pets:read', 'messages:write'],
      SCOPES,
    ];
    for (const scopes of held)
      it(`keeps an account that is held to ${describeScopes(scopes)}`, async () => {
        const account = await accounts.open({ ...unique.account(), scopes });
        expect(account).toMatchObject({ scopes });
        expect(await accounts.findById(account.id)).toEqual(account);
      });

    const heldAnew: readonly [Scopes, Scopes][] = [
      [undefined, ['pets:read']],
      [['pets:read'], ['orders:read', 'orders:write']],
      [SCOPES, undefined],
    ];
    for (const [before, after] of heldAnew)
      it(`holds an account to ${describeScopes(after)} after ${describeScopes(before)}, and changes nothing else`, async () => {
        const account = await accounts.open({ ...unique.account(), plan: { name: 'pro' }, scopes: before });
        const bystander = await accounts.open({ ...unique.account(), scopes: before });
        expect(await accounts.holdToScopes(account.email, after)).toEqual({ ...account, scopes: after });
        expect(await accounts.findById(account.id)).toEqual({ ...account, scopes: after });
        expect(await accounts.findById(bystander.id)).toEqual(bystander);
      });

    it('returns undefined for an address without an account', async () => {
      expect(await accounts.findByEmail('nobody@example.com')).toBeUndefined();
    });

    it('lists all accounts, ascending by id', async () => {
      const added = [];
      for (const name of ['b', 'a']) added.push(await accounts.open(unique.account(`${name}-${unique.email()}`)));
      const all = await accounts.list();
      expect(all.slice(-2)).toEqual(added);
      expect(all.map(({ id }) => id)).toEqual(all.map(({ id }) => id).sort((one, other) => (one < other ? -1 : 1)));
    });

    it('lists a part of the accounts, by start and size', async () => {
      const added = [];
      for (let index = 0; index < 4; index += 1) added.push(await accounts.open(unique.account()));
      expect(await accounts.list({ after: added[0]?.id, limit: 2 })).toEqual(added.slice(1, 3));
      expect(await accounts.list({ after: added[0]?.id })).toEqual(added.slice(1));
      expect(await accounts.list({ after: added[3]?.id, limit: 2 })).toEqual([]);
    });

    it('leaves an existing account unchanged', async () => {
      const first = await accounts.open({ ...unique.account('twice@example.com'), scopes: ['pets:read'] });
      const second = await accounts.open({
        ...unique.account('twice@example.com'),
        plan: { name: 'pro' },
        scopes: undefined,
        createdAt: instant(1),
      });
      expect(second).toEqual(first);
    });

    const changes: readonly [Plan, Plan][] = [
      [{ name: 'free' }, { name: 'pro' }],
      [{ name: 'pro' }, { name: 'enterprise', perMinute: 7, perDay: 70 }],
      [
        { name: 'enterprise', perMinute: 7, perDay: 70 },
        { name: 'enterprise', perMinute: 8, perDay: 80 },
      ],
      [{ name: 'enterprise', perMinute: 8, perDay: 80 }, { name: 'business' }],
    ];
    for (const [before, after] of changes)
      it(`changes the plan ${JSON.stringify(before)} to ${JSON.stringify(after)}, and nothing else`, async () => {
        const email = unique.email();
        const account = await accounts.open({ ...unique.account(email), plan: before });
        const bystander = await accounts.open({ ...unique.account(`other-${email}`), plan: before });
        expect(await accounts.changePlan(email, after)).toEqual({ ...account, plan: after });
        expect(await accounts.findByEmail(email)).toEqual({ ...account, plan: after });
        expect(await accounts.findByEmail(bystander.email)).toEqual(bystander);
      });

    it('changes no plan and no scopes, and opens no account, if there is none', async () => {
      expect(await accounts.changePlan('nobody@example.com', { name: 'pro' })).toBeUndefined();
      expect(await accounts.holdToScopes('nobody@example.com', ['pets:read'])).toBeUndefined();
      expect(await accounts.findByEmail('nobody@example.com')).toBeUndefined();
    });

    it('leaves an account on one complete plan, however many changes race', async () => {
      const { email } = await accounts.open(unique.account());
      const plans = Array.from({ length: 30 }, (_, index): Plan =>
        index % 3 === 0 ? { name: 'pro' } : { name: 'enterprise', perMinute: index, perDay: 10 * index },
      );
      await Promise.all(plans.map((plan) => accounts.changePlan(email, plan)));
      expect(plans).toContainEqual((await accounts.findByEmail(email))?.plan);
    });

    it('keeps both of a plan and scopes that are changed at the same time', async () => {
      for (let round = 0; round < 10; round += 1) {
        const { id, email } = await accounts.open(unique.account());
        await Promise.all([accounts.changePlan(email, { name: 'pro' }), accounts.holdToScopes(email, ['pets:read'])]);
        expect(await accounts.findById(id)).toMatchObject({ plan: { name: 'pro' }, scopes: ['pets:read'] });
      }
    });

    it('opens one account for one address, however many calls race', async () => {
      const racers = await atOnce(50, () => accounts.open(unique.account('race@example.com')));
      expect(new Set(racers.map(({ id }) => id)).size).toBe(1);
    });
  });
}
