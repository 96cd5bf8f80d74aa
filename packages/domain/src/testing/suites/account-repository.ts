import type { Account } from '../../accounts/account.js';
import type { AccountRepository } from '../../accounts/account-repository.js';
import { PLANS } from '../../accounts/plan.js';
import { SCOPES } from '../../accounts/scope.js';
import { instant } from '../../kernel/clock.js';
import { atOnce, openBefore, stateOf, Unique } from './fixtures.js';
import type { Open, TestFramework } from './framework.js';

const ENTERPRISE = { name: 'enterprise', perMinute: 5, perDay: 2_147_483_647 } as const;

/** The guarantees of every `AccountRepository`. */
export function accountRepositorySuite(framework: TestFramework, name: string, open: Open<'accounts'>): void {
  const { describe, it, expect } = framework;
  describe(`an account repository (${name})`, () => {
    const unique = new Unique();
    let accounts: AccountRepository;
    openBefore(framework, open, ({ ports }) => {
      accounts = ports.accounts;
    });

    it('keeps an account as it was opened, on each plan and held to any scopes', async () => {
      for (const plan of [...Object.values(PLANS), ENTERPRISE])
        for (const scopes of [undefined, SCOPES, ['pets:read'] as const]) {
          const opened = { ...unique.account(), plan, scopes };
          const account = await accounts.open(opened);
          expect(account).toEqual({ ...opened, id: account.id, credentialVersion: 0, provenAt: undefined });
          expect(typeof account.id).toBe('bigint');
          expect(await accounts.findByEmail(account.email)).toEqual(account);
          expect(await accounts.findById(account.id)).toEqual(account);
        }
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
      const opened = { ...unique.account(), scopes: ['pets:read'] } as const;
      const first = await accounts.open(opened);
      const changed = { ...opened, plan: PLANS.pro, scopes: undefined, createdAt: instant(1) };
      expect(await accounts.open(changed)).toEqual(first);
    });

    it('stores the plan and the scopes that are decided on, and nothing else', async () => {
      let account = await accounts.open(unique.account());
      const { id, email } = account;
      const bystander = await accounts.open(unique.account());
      const changes: readonly Pick<Account, 'plan' | 'scopes'>[] = [
        { plan: ENTERPRISE, scopes: ['orders:read', 'orders:write'] },
        { plan: { ...ENTERPRISE, perMinute: 8 }, scopes: SCOPES },
        { plan: PLANS.business, scopes: undefined },
      ];
      for (const change of changes) {
        const before = account;
        account = { ...before, ...change };
        const changed = accounts.change(email, (state) => {
          expect(state).toEqual(before);
          return account;
        });
        expect(await changed).toEqual(account);
        expect(await accounts.findById(id)).toEqual(account);
      }
      expect(await accounts.findById(bystander.id)).toEqual(bystander);
    });

    it('hands a decision on an address without an account nothing, and opens none', async () => {
      const refuse = (account: Account | undefined) => {
        throw new Error(`on ${account?.email ?? 'nobody'}`);
      };
      await expect(accounts.change('nobody@example.com', refuse)).rejects.toThrow('on nobody');
      expect(await accounts.findByEmail('nobody@example.com')).toBeUndefined();
    });

    it('makes each decision on what the others have decided, however many race', async () => {
      const { id, email } = await accounts.open({ ...unique.account(), plan: ENTERPRISE });
      await atOnce(10, () =>
        accounts.change(email, (account) => {
          if (account?.plan.name !== 'enterprise') throw new Error('it has another plan');
          return { ...account, plan: { ...account.plan, perMinute: account.plan.perMinute + 1 } };
        }),
      );
      expect(await accounts.findById(id)).toMatchObject({ plan: { perMinute: ENTERPRISE.perMinute + 10 } });
    });

    it('opens one account for one address, however it is composed and many calls race', async () => {
      const composed = ['rac\u00e9@example.com', 'race\u0301@example.com'] as const;
      const racers = await atOnce(20, (index) => accounts.open(unique.account(composed[index % 2])));
      expect(new Set(racers.map(({ id }) => id)).size).toBe(1);
      const [account] = racers;
      expect(composed).toContain(account?.email);
      for (const email of composed) {
        expect(await accounts.findByEmail(email)).toEqual(account);
        expect(await stateOf((refuse) => accounts.change(email, refuse))).toEqual(account);
      }
    });
  });
}
