import type { Account, AccountId } from '../../accounts/account.js';
import { DAY, HOUR, later, MINUTE } from '../../kernel/clock.js';
import { LONGEST_SESSION, type Session, SESSION_IDLE_TIME } from '../../sessions/session.js';
import type { SessionRepository } from '../../sessions/session-repository.js';
import {
  atOnce,
  changePassword,
  closeAccount,
  NOON,
  openBefore,
  openWithPassword,
  present,
  stateOf,
  expectDecidedOnce,
  Unique,
} from './fixtures.js';
import type { Open, Opened, TestFramework } from './framework.js';

type Needed = 'credentials' | 'sessions';

/** The guarantees of every `SessionRepository`. */
export function sessionRepositorySuite(framework: TestFramework, name: string, open: Open<Needed>): void {
  const { describe, it, expect } = framework;
  describe(`a session repository (${name})`, () => {
    const unique = new Unique();
    let ports: Opened<Needed>['ports'];
    let sessions: SessionRepository;
    openBefore(framework, open, (adapters) => {
      ports = adapters.ports;
      sessions = ports.sessions;
    });

    const opened = () => openWithPassword(ports.credentials, unique);
    const sessionOf = ({ id, credentialVersion }: Account, changes: Partial<Session> = {}): Session => ({
      id: unique.name(),
      tokenHash: unique.hash(),
      accountId: id,
      credentialVersion,
      begunAt: NOON,
      usedAt: NOON,
      ...changes,
    });
    const begin = (session: Session) => sessions.add(session.accountId, () => session);
    const accountOf = (id: AccountId) => stateOf<Account | undefined>((decide) => sessions.add(id, decide));

    it('decides on the account as it is, adds what is decided, and finds it by its token alone', async () => {
      const account = await opened();
      const session = sessionOf(account);
      expect(await accountOf(account.id)).toEqual(account);
      expect(await sessions.add(account.id, () => undefined)).toBeUndefined();
      expect(await sessions.find(session.tokenHash)).toBeUndefined();
      expect(await begin(session)).toEqual(session);
      expect(await sessions.find(session.tokenHash)).toEqual({ session, account });
      for (const other of [unique.hash(), session.id]) expect(await sessions.find(other)).toBeUndefined();
      const after = await changePassword(ports, account);
      expect(await accountOf(account.id)).toEqual(after);
      expect(await sessions.find(session.tokenHash)).toEqual({ session, account: after });
    });

    it('makes a decision once', async () => {
      const account = await opened();
      const begin = () => sessionOf(account);
      await expectDecidedOnce(framework, { add: (counted) => sessions.add(account.id, counted(begin)) });
    });

    it('knows no account that is closed', async () => {
      const account = await opened();
      const session = sessionOf(account);
      await begin(session);
      await closeAccount(ports, account);
      expect(await accountOf(account.id)).toBeUndefined();
      expect(await sessions.find(session.tokenHash)).toBeUndefined();
    });

    it('decides on the account as the last decision on it leaves it, however many race', async () => {
      for (let round = 0; round < 3; round += 1) {
        const account = await opened();
        let version = account.credentialVersion;
        const begin = () =>
          sessions.add(account.id, (current) => {
            expect(current?.credentialVersion).toBe(version);
            return undefined;
          });
        const change = () =>
          ports.credentials.change(account.id, (state) => {
            version += 1;
            return state && { credentials: { ...state, account: { ...state.account, credentialVersion: version } } };
          });
        await Promise.all([atOnce(5, begin), change(), atOnce(5, begin)]);
      }
    });

    it('keeps when a session was used, and nothing else of it', async () => {
      const session = sessionOf(await opened());
      await begin(session);
      const usedAt = later(NOON, MINUTE);
      expect(await sessions.use({ ...session, usedAt, begunAt: usedAt, credentialVersion: 7 })).toBe(true);
      expect((await sessions.find(session.tokenHash))?.session).toEqual({ ...session, usedAt });
    });

    it('gives a session another token, version and times, and its former token is of no use', async () => {
      const account = await opened();
      const session = sessionOf(account);
      await begin(session);
      const after = await changePassword(ports, account);
      const at = later(NOON, HOUR);
      const renewed = sessionOf(present(after), { id: session.id, begunAt: at, usedAt: at });
      expect(await sessions.renew(renewed)).toBe(true);
      expect(await sessions.find(renewed.tokenHash)).toEqual({ session: renewed, account: after });
      expect(await sessions.find(session.tokenHash)).toBeUndefined();
      expect(await sessions.use({ ...session, usedAt: later(NOON, MINUTE) })).toBe(false);
      expect((await sessions.find(renewed.tokenHash))?.session).toEqual(renewed);
    });

    it('ends one session of an account, and not its others', async () => {
      const account = await opened();
      const [session, other] = [sessionOf(account), sessionOf(account)];
      for (const each of [session, other]) await begin(each);
      await sessions.end(session.id);
      expect(await sessions.find(session.tokenHash)).toBeUndefined();
      expect((await sessions.find(other.tokenHash))?.session).toEqual(other);
    });

    it('brings back no session that has ended, whatever is kept of it then', async () => {
      const session = sessionOf(await opened());
      await begin(session);
      await sessions.renew({ ...session, tokenHash: unique.hash() });
      await sessions.end(session.id);
      expect(await sessions.use(session)).toBe(false);
      expect(await sessions.renew(session)).toBe(false);
      expect(await sessions.find(session.tokenHash)).toBeUndefined();
    });

    it('ends all sessions of one account for good, whatever races it, and no other', async () => {
      const [account, bystander] = [await opened(), await opened()];
      const others = sessionOf(bystander);
      await begin(others);
      const all = Array.from({ length: 20 }, () => sessionOf(account));
      await Promise.all(all.map((session) => begin(session)));
      const renewed = all.map((session) => ({ ...session, tokenHash: unique.hash() }));
      await Promise.all([
        ...all.map((session) => sessions.use({ ...session, usedAt: later(NOON, MINUTE) })),
        sessions.endAll(account.id),
        ...renewed.map((session) => sessions.renew(session)),
      ]);
      for (const { tokenHash } of [...all, ...renewed]) expect(await sessions.find(tokenHash)).toBeUndefined();
      expect((await sessions.find(others.tokenHash))?.session).toEqual(others);
      const next = sessionOf(account);
      expect(await begin(next)).toEqual(next);
      expect((await sessions.find(next.tokenHash))?.session).toEqual(next);
    });

    for (const [over, times, end] of [
      ['as long without use', {}, later(NOON, SESSION_IDLE_TIME)],
      ['as old', { begunAt: later(NOON, MINUTE - LONGEST_SESSION) }, later(NOON, MINUTE)],
    ] as const)
      it(`purges a session that is ${over} as one may be, and none before`, async () => {
        await sessions.purge(later(NOON, DAY));
        const session = sessionOf(await opened(), times);
        await begin(session);
        expect([await sessions.purge(later(end, -1)), await sessions.purge(end)]).toEqual([0, 1]);
        expect(await sessions.find(session.tokenHash)).toBeUndefined();
      });

    it('purges no session that was used or renewed later', async () => {
      const account = await opened();
      const [used, renewed] = [sessionOf(account), sessionOf(account)];
      const usedAt = later(NOON, 1);
      for (const each of [used, renewed]) await begin(each);
      await sessions.use({ ...used, usedAt });
      await sessions.renew({ ...renewed, usedAt });
      await sessions.purge(later(NOON, SESSION_IDLE_TIME));
      for (const { tokenHash } of [used, renewed]) expect(await sessions.find(tokenHash)).toBeDefined();
      expect(await sessions.purge(later(usedAt, SESSION_IDLE_TIME))).toBe(2);
    });
  });
}
