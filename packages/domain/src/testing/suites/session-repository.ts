import type { Account, AccountId } from '../../accounts/account.js';
import { HOUR, later, MINUTE } from '../../kernel/clock.js';
import { decideBeginning, LONGEST_SESSION, type Session, SESSION_IDLE_TIME } from '../../sessions/session.js';
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
      expect(await sessions.find(unique.hash())).toBeUndefined();
      const after = await changePassword(ports, account);
      expect(await accountOf(account.id)).toEqual(after);
      expect(await sessions.find(session.tokenHash)).toEqual({ session, account: after });
    });

    it('knows no account that is closed', async () => {
      const account = await opened();
      const session = sessionOf(account);
      await begin(session);
      await closeAccount(ports, account);
      expect(await accountOf(account.id)).toBeUndefined();
      expect(await sessions.find(session.tokenHash)).toBeUndefined();
    });

    it('begins no session with a former password, whatever comes first', async () => {
      await atOnce(10, async () => {
        const account = await opened();
        const session = sessionOf(account);
        const [after, begun] = await Promise.all([
          changePassword(ports, account),
          sessions.add(account.id, (current) => decideBeginning(current, session)),
        ]);
        const found = await sessions.find(session.tokenHash);
        expect(found).toEqual(begun && { session, account: after });
      });
    });

    it('keeps when a session was used', async () => {
      const account = await opened();
      const session = sessionOf(account);
      await begin(session);
      const used = { ...session, usedAt: later(NOON, MINUTE) };
      expect(await sessions.use(used)).toBe(true);
      expect((await sessions.find(session.tokenHash))?.session).toEqual(used);
    });

    it('gives a session another token and version, and its former token is of no use', async () => {
      const account = await opened();
      const session = sessionOf(account);
      await begin(session);
      const after = await changePassword(ports, account);
      const renewed = sessionOf(present(after), { id: session.id });
      expect(await sessions.renew(renewed)).toBe(true);
      expect(await sessions.find(renewed.tokenHash)).toEqual({ session: renewed, account: after });
      expect(await sessions.find(session.tokenHash)).toBeUndefined();
      expect(await sessions.use({ ...session, usedAt: later(NOON, MINUTE) })).toBe(false);
      expect((await sessions.find(renewed.tokenHash))?.session).toEqual(renewed);
    });

    it('brings back no session that has ended, whatever is kept of it then', async () => {
      const account = await opened();
      const session = sessionOf(account);
      await begin(session);
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

    it('purges the sessions that are over, and no other', async () => {
      const account = await opened();
      const idle = sessionOf(account);
      const long = sessionOf(account, { begunAt: later(NOON, -LONGEST_SESSION + MINUTE) });
      const used = sessionOf(account, { usedAt: later(NOON, HOUR) });
      for (const each of [idle, long, used]) await begin(each);
      expect(await sessions.purge(later(NOON, SESSION_IDLE_TIME))).toBeGreaterThanOrEqual(2);
      expect(await sessions.find(idle.tokenHash)).toBeUndefined();
      expect(await sessions.find(long.tokenHash)).toBeUndefined();
      expect((await sessions.find(used.tokenHash))?.session).toEqual(used);
    });
  });
}
