import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type Account,
  HOUR,
  instant,
  later,
  LONGEST_SESSION,
  MINUTE,
  type Ports,
  type Session,
  SESSION_IDLE_TIME,
  sessionEnd,
  type SessionRepository,
} from '@adoption-store/domain';
import { type Adapters, everyAdapter } from './adapters.js';

const NOW = instant(Date.UTC(2026, 0, 1, 12, 0, 0, 123));
const RACES = 20;

describe.each(everyAdapter)('a session repository (%s)', (_name, open) => {
  let adapters: Adapters;
  let ports: Ports;
  let sessions: SessionRepository;
  beforeAll(async () => {
    adapters = await open();
    ports = adapters.ports;
    sessions = ports.sessions;
  });
  afterAll(() => adapters.close());

  async function opened(): Promise<Account> {
    const email = `${randomUUID()}@example.com`;
    const account = await ports.credentials.open({ email, plan: { name: 'free' }, createdAt: NOW }, 'hash');
    if (account === undefined) throw new Error('the account was not opened');
    return account;
  }
  const newHash = () => createHash('sha256').update(randomUUID()).digest('hex');
  const sessionOf = ({ id, credentialVersion }: Account, changes: Partial<Session> = {}): Session => ({
    id: randomUUID(),
    tokenHash: newHash(),
    accountId: id,
    credentialVersion,
    begunAt: NOW,
    usedAt: NOW,
    ...changes,
  });
  const changed = (account: Account) =>
    ports.credentials.changePassword({ accountId: account.id, current: 'hash', next: 'other hash' });

  it('finds a session with its account, by its token alone', async () => {
    const account = await opened();
    const session = sessionOf(account);
    expect(await sessions.add(session)).toBe(true);
    expect(await sessions.find(session.tokenHash)).toEqual({ session, account });
    expect(await sessions.find(newHash())).toBeUndefined();
  });

  it('adds none to an account that has another password by now, or is closed', async () => {
    const account = await opened();
    await changed(account);
    expect(await sessions.add(sessionOf(account))).toBe(false);
    const closed = await opened();
    await ports.credentials.close({ accountId: closed.id, current: 'hash', at: NOW });
    expect(await sessions.add(sessionOf(closed))).toBe(false);
  });

  it('finds none once its account has another password, or is closed', async () => {
    for (const end of [
      changed,
      (account: Account) => ports.credentials.close({ accountId: account.id, current: 'hash', at: NOW }),
    ]) {
      const account = await opened();
      const session = sessionOf(account);
      await sessions.add(session);
      await end(account);
      expect(await sessions.find(session.tokenHash)).toBeUndefined();
    }
  });

  it('keeps when a session was used', async () => {
    const account = await opened();
    const session = sessionOf(account);
    await sessions.add(session);
    const used = { ...session, usedAt: later(NOW, MINUTE) };
    expect(await sessions.use(used)).toBe(true);
    expect((await sessions.find(session.tokenHash))?.session).toEqual(used);
  });

  it('gives a session another token and version, and its former token is of no use', async () => {
    const account = await opened();
    const session = sessionOf(account);
    await sessions.add(session);
    const after = await changed(account);
    if (after === undefined) throw new Error('the password was not changed');
    const renewed = sessionOf(after, { id: session.id });
    expect(await sessions.renew(renewed)).toBe(true);
    expect(await sessions.find(renewed.tokenHash)).toEqual({ session: renewed, account: after });
    expect(await sessions.find(session.tokenHash)).toBeUndefined();
    expect(await sessions.use({ ...session, usedAt: later(NOW, MINUTE) })).toBe(false);
    expect((await sessions.find(renewed.tokenHash))?.session).toEqual(renewed);
  });

  it('brings back no session that has ended, whatever is kept of it then', async () => {
    const account = await opened();
    const session = sessionOf(account);
    await sessions.add(session);
    await sessions.end(session.id);
    expect(await sessions.use(session)).toBe(false);
    expect(await sessions.renew(session)).toBe(false);
    expect(await sessions.find(session.tokenHash)).toBeUndefined();
  });

  it('ends a session for good, whatever races it', async () => {
    const account = await opened();
    const alive = await Promise.all(
      Array.from({ length: RACES }, async () => {
        const session = sessionOf(account);
        const renewed = { ...session, tokenHash: newHash() };
        await sessions.add(session);
        await Promise.all([sessions.use(session), sessions.renew(renewed), sessions.end(session.id)]);
        return (await sessions.find(session.tokenHash)) ?? (await sessions.find(renewed.tokenHash));
      }),
    );
    expect(alive).toEqual(Array(RACES).fill(undefined));
  });

  it('forgets the sessions that are over, and no other', async () => {
    const account = await opened();
    const idle = sessionOf(account);
    const long = sessionOf(account, { begunAt: later(NOW, -LONGEST_SESSION + MINUTE) });
    const used = sessionOf(account, { usedAt: later(NOW, HOUR) });
    for (const each of [idle, long, used]) await sessions.add(each);
    expect(sessionEnd(long)).toBe(later(NOW, MINUTE));
    expect(await sessions.forget(later(NOW, SESSION_IDLE_TIME))).toBeGreaterThanOrEqual(2);
    expect(await sessions.find(idle.tokenHash)).toBeUndefined();
    expect(await sessions.find(long.tokenHash)).toBeUndefined();
    expect((await sessions.find(used.tokenHash))?.session).toEqual(used);
  });
});
