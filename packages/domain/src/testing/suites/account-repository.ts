import type { AccountRepository } from '../../accounts/account-repository.js';
import { FIXED_PLANS, type Plan } from '../../accounts/plan.js';
import { SCOPES, type Scopes } from '../../accounts/scope.js';
import { instant } from '../../kernel/clock.js';
import { atOnce, Unique } from './fixtures.js';
import type { Open, Opened, TestFramework } from './framework.js';

const ENTERPRISE = { name: 'enterprise', perMinute: 5, perDay: 2_147_483_647 } as const;

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

    it('keeps an account as it was opened, on each plan and held to any scopes', async () => {
      const plans: readonly Plan[] = [...FIXED_PLANS.map((each) => ({ name: each })), ENTERPRISE];
      const kept = [
        ...plans.map((plan) => ({ plan })),
        ...[SCOPES, ['pets:read'] as const].map((scopes) => ({ scopes })),
      ];
      for (const held of kept) {
        const opened = { ...unique.account(), ...held };
        const account = await accounts.open(opened);
        expect(account).toEqual({ ...opened, id: account.id, credentialVersion: 0, provenAt: undefined });
        expect(typeof account.id).toBe('bigint');
        expect(await accounts.findByEmail(account.email)).toEqual(account);
        expect(await accounts.findById(account.id)).toEqual(account);
      }
    });

    it('holds an account to other scopes or to none, and changes nothing else', async () => {
      const account = await accounts.open({ ...unique.account(), plan: { name: 'pro' } });
      const bystander = await accounts.open(unique.account());
      for (const scopes of [['pets:read'], ['orders:read', 'orders:write'], SCOPES, undefined] satisfies Scopes[]) {
        expect(await accounts.holdToScopes(account.email, scopes)).toEqual({ ...account, scopes });
        expect(await accounts.findById(account.id)).toEqual({ ...account, scopes });
      }
      expect(await accounts.findById(bystander.id)).toEqual(bystander);
    });

    it('returns undefined for an address without an account', async () => {
      expect(await accounts.findByEmail('nobody@example.com')).toBeUndefined();
    });

    it('lists all accounts or a part of them, ascending by id', async () => {
      const added = [];
      for (const name of ['b', 'a', 'd', 'c'])
        added.push(await accounts.open(unique.account(`${name}-${unique.email()}`)));
      expect((await accounts.list()).slice(-4)).toEqual(added);
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

    it('changes the plan to any other, and nothing else', async () => {
      const account = await accounts.open({ ...unique.account(), scopes: ['pets:read'] });
      const bystander = await accounts.open(unique.account());
      const other = { ...ENTERPRISE, perMinute: 8 };
      for (const plan of [{ name: 'pro' }, ENTERPRISE, other, { name: 'business' }] satisfies Plan[]) {
        expect(await accounts.changePlan(account.email, plan)).toEqual({ ...account, plan });
        expect(await accounts.findByEmail(account.email)).toEqual({ ...account, plan });
      }
      expect(await accounts.findByEmail(bystander.email)).toEqual(bystander);
    });

    it('changes no plan and no scopes, and opens no account, if there is none', async () => {
      expect(await accounts.changePlan('nobody@example.com', { name: 'pro' })).toBeUndefined();
      expect(await accounts.holdToScopes('nobody@example.com', ['pets:read'])).toBeUndefined();
      expect(await accounts.findByEmail('nobody@example.com')).toBeUndefined();
    });

    it('leaves an account on one complete plan, however many changes race', async () => {
      const { email } = await accounts.open(unique.account());
      const plans = Array.from({ length: 10 }, (_, index): Plan =>
        index % 3 === 0 ? { name: 'pro' } : { name: 'enterprise', perMinute: index, perDay: 10 * index },
      );
      await Promise.all(plans.map((plan) => accounts.changePlan(email, plan)));
      expect(plans).toContainEqual((await accounts.findByEmail(email))?.plan);
    });

    it('keeps both of a plan and scopes that are changed at the same time', async () => {
      for (let round = 0; round < 3; round += 1) {
        const { id, email } = await accounts.open(unique.account());
        await Promise.all([accounts.changePlan(email, { name: 'pro' }), accounts.holdToScopes(email, ['pets:read'])]);
        expect(await accounts.findById(id)).toMatchObject({ plan: { name: 'pro' }, scopes: ['pets:read'] });
      }
    });

    it('opens one account for one address, however many calls race', async () => {
      const racers = await atOnce(20, () => accounts.open(unique.account('race@example.com')));
      expect(new Set(racers.map(({ id }) => id)).size).toBe(1);
    });
  });
}
