import type { AccountRepository } from '../../accounts/account-repository.js';
import { FIXED_PLANS, type Plan } from '../../accounts/plan.js';
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

    const createdAt = NOON;

    const kept: readonly Plan[] = [
      ...FIXED_PLANS.map((name) => ({ name })),
      { name: 'enterprise', perMinute: 5, perDay: 2_147_483_647 },
    ];
    for (const plan of kept)
      it(`keeps an account on the plan ${JSON.stringify(plan)}`, async () => {
        const email = `${plan.name}@example.com`;
        const account = await accounts.open({ email, plan, createdAt });
        expect(account).toEqual({ id: account.id, email, plan, createdAt, credentialVersion: 0, provenAt: undefined });
        expect(typeof account.id).toBe('bigint');
        expect(await accounts.findByEmail(email)).toEqual(account);
        expect(await accounts.findById(account.id)).toEqual(account);
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
      const first = await accounts.open({ email: 'twice@example.com', plan: { name: 'pro' }, createdAt });
      const second = await accounts.open({ email: 'twice@example.com', plan: { name: 'free' }, createdAt: instant(1) });
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
        const account = await accounts.open({ email, plan: before, createdAt });
        const bystander = await accounts.open({ email: `other-${email}`, plan: before, createdAt });
        expect(await accounts.changePlan(email, after)).toEqual({ ...account, plan: after });
        expect(await accounts.findByEmail(email)).toEqual({ ...account, plan: after });
        expect(await accounts.findByEmail(bystander.email)).toEqual(bystander);
      });

    it('changes no plan, and opens no account, if there is none', async () => {
      expect(await accounts.changePlan('nobody@example.com', { name: 'pro' })).toBeUndefined();
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

    it('opens one account for one address, however many calls race', async () => {
      const racers = await atOnce(50, () => accounts.open(unique.account('race@example.com')));
      expect(new Set(racers.map(({ id }) => id)).size).toBe(1);
    });
  });
}
