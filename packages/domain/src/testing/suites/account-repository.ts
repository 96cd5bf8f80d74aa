import { type Account, type AccountId, closedEmail } from '../../accounts/account.js';
import type { AccountRepository } from '../../accounts/account-repository.js';
import { PLANS } from '../../accounts/plan.js';
import { SCOPES } from '../../accounts/scope.js';
import { instant } from '../../kernel/clock.js';
import { INT64_MAX } from '../../kernel/int64.js';
import {
  atOnce,
  closeAccount,
  oftenerThanAPage,
  openBefore,
  openWithPassword,
  present,
  stateOf,
  expectDecidedOnce,
  Unique,
} from './fixtures.js';
import type { Opened, TestFramework } from './framework.js';

/** The accounts of a store, some of which may be older than the rule that no two share a canonical address. */
export interface OpenedAccounts extends Opened<'accounts' | 'credentials'> {
  /** Stores an open account with exactly this address, though another account has its canonical form. */
  addOlder(email: string): Promise<void>;
}

const ENTERPRISE = { name: 'enterprise', perMinute: 5, perDay: 2_147_483_647 } as const;

/** The guarantees of every `AccountRepository`. */
export function accountRepositorySuite(
  framework: TestFramework,
  name: string,
  open: () => Promise<OpenedAccounts>,
): void {
  const { describe, it, beforeAll, expect } = framework;
  describe(`an account repository (${name})`, () => {
    const unique = new Unique();
    let store: OpenedAccounts;
    let accounts: AccountRepository;
    openBefore(framework, open, (opened) => {
      store = opened;
      accounts = opened.ports.accounts;
    });
    const idsOf = async (part?: Parameters<AccountRepository['list']>[0]) =>
      (await accounts.list(part)).map(({ id }) => id);
    const closed = async () => {
      const account = await openWithPassword(store.ports.credentials, unique);
      await closeAccount(store.ports, account);
      return account;
    };

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

    it('finds nothing that was never opened', async () => {
      expect(await accounts.findById(INT64_MAX as AccountId)).toBeUndefined();
    });

    it('lists all accounts, or the given part of them, ascending by id', async () => {
      const added: AccountId[] = [];
      for (const name of ['b', 'a', 'd', 'c'])
        added.push((await accounts.open(unique.account(`${name}-${unique.email()}`))).id);
      const [first, , , last] = added;
      const all = await idsOf();
      for (const [part, found] of [
        [undefined, all],
        [{ limit: 2 }, all.slice(0, 2)],
        [{ after: first, limit: 2 }, added.slice(1, 3)],
        [{ after: first }, added.slice(1)],
        [{ after: last, limit: 2 }, []],
      ] as const)
        expect({ part, found: await idsOf(part) }).toEqual({ part, found });
      expect(all.slice(-4)).toEqual(added);
    });

    describe('of 101 accounts', () => {
      let after: AccountId;
      let added: readonly AccountId[];
      beforeAll(async () => {
        after = (await accounts.open(unique.account())).id;
        added = (await oftenerThanAPage(() => accounts.open(unique.account()))).map(({ id }) => id);
      });
      for (const limit of [101, undefined])
        it(`lists as many as are asked for: ${limit ?? 'all of them'}`, async () => {
          expect(await idsOf({ after, limit })).toEqual(added);
        });
    });

    for (const [question, ask] of [
      ['by its id', ({ id }: Account) => accounts.findById(id)],
      ['by its former address', ({ email }: Account) => accounts.findByEmail(email)],
      ['by the address that it has since', ({ id }: Account) => accounts.findByEmail(closedEmail(id))],
      ['for a change', ({ id }: Account) => stateOf((refuse) => accounts.change(closedEmail(id), refuse))],
    ] as const)
      it(`finds no closed account ${question}`, async () => {
        expect(await ask(await closed())).toBeUndefined();
      });

    it('lists no closed account', async () => {
      const { id } = await closed();
      expect(await idsOf()).not.toContain(id);
    });

    it('opens another account under the former address of a closed one, with an id that none had', async () => {
      const former = await closed();
      const { id } = await accounts.open(unique.account(former.email));
      expect(id > former.id).toBe(true);
    });

    it('leaves an existing account unchanged', async () => {
      const opened = { ...unique.account(), scopes: ['pets:read'] } as const;
      const first = await accounts.open(opened);
      const changed = { ...opened, plan: PLANS.pro, scopes: undefined, createdAt: instant(1) };
      expect(await accounts.open(changed)).toEqual(first);
    });

    it('stores the plan and the scopes that are decided on, and nothing else', async () => {
      let account = await openWithPassword(store.ports.credentials, unique);
      const { id, email } = account;
      const bystander = await accounts.open(unique.account());
      const changes: readonly Pick<Account, 'plan' | 'scopes'>[] = [
        { plan: ENTERPRISE, scopes: SCOPES },
        { plan: { ...ENTERPRISE, perMinute: 8 }, scopes: undefined },
        { plan: PLANS.business, scopes: ['orders:read', 'orders:write'] },
      ];
      for (const change of changes) {
        const before = account;
        account = { ...before, ...change };
        const changed = accounts.change(email, (state) => {
          expect(state).toEqual(before);
          const others = { id: bystander.id, email: unique.email(), createdAt: instant(1), provenAt: instant(1) };
          return { ...account, ...others, credentialVersion: 7 };
        });
        expect(await changed).toEqual(account);
        expect(await accounts.findById(id)).toEqual(account);
      }
      expect(await accounts.findById(bystander.id)).toEqual(bystander);
      expect(await store.ports.credentials.findById(id)).toMatchObject({ passwordHash: 'hash' });
    });

    it('hands a decision on an address without an account nothing, and neither opens nor changes one', async () => {
      const [account, email] = [await accounts.open(unique.account()), unique.email()];
      await accounts.change(email, (state) => {
        expect(state).toBeUndefined();
        return { ...account, email, plan: PLANS.pro };
      });
      expect(await accounts.findByEmail(email)).toBeUndefined();
      expect(await accounts.findById(account.id)).toEqual(account);
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

    it('changes nothing if that is refused', async () => {
      const account = await accounts.open(unique.account());
      expect(await stateOf<Account | undefined>((refuse) => accounts.change(account.email, refuse))).toEqual(account);
      expect(await accounts.findById(account.id)).toEqual(account);
    });

    it('makes a decision once', async () => {
      const { email } = await accounts.open(unique.account());
      await expectDecidedOnce(framework, { change: (counted) => accounts.change(email, counted(present<Account>)) });
    });

    it('opens one account for one address, however it is composed and many calls race', async () => {
      const composed = ['rac\u00e9@example.com', 'race\u0301@example.com'] as const;
      const racers = await atOnce(20, (index) => accounts.open(unique.account(composed[index % 2])));
      expect(new Set(racers.map(({ id }) => id)).size).toBe(1);
    });

    describe('an address', () => {
      const [exact, canonical] = ['zo\u00eb@example.com.', 'zo\u00eb@example.com'];
      const alone = 'eve@example.com.';
      beforeAll(async () => {
        for (const email of [exact, alone]) await accounts.open(unique.account(email));
        await store.addOlder(canonical);
      });
      for (const [method, find] of [
        ['findByEmail', (email: string) => accounts.findByEmail(email)],
        ['open', (email: string) => accounts.open(unique.account(email))],
        ['change', (email: string) => stateOf<Account | undefined>((refuse) => accounts.change(email, refuse))],
      ] as const)
        for (const [written, found] of [
          [exact, exact],
          [canonical, canonical],
          ['zoe\u0308@EXAMPLE.com', canonical],
          ['eve@example.com', alone],
        ] as const)
          it(`leads ${method} to the account with exactly it, or else with its canonical form: ${written}`, async () => {
            expect((await find(written))?.email).toBe(found);
          });
    });
  });
}
