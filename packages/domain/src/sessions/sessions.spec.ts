import { testPolicy } from '../testing/in-memory-application.js';
import { describe, expect, it, jest } from '@jest/globals';
import { createApplication } from '../application.js';
import { HOUR, instant, later, MINUTE } from '../kernel/clock.js';
import { anAccount } from '../testing/builders.js';
import { decisions, inMemoryPorts } from '../testing/index.js';
import { decideBeginning, decideUse, LONGEST_SESSION, type Session, SESSION_IDLE_TIME } from './session.js';

const EMAIL = 'dev@example.com';
const PASSWORD = 'a horse, a battery';
const OTHER = 'a staple, correctly';

async function setUp() {
  const ports = inMemoryPorts();
  const application = createApplication(ports, testPolicy(), { opensUnproven: true });
  const account = await application.signUp.execute({ email: EMAIL, password: PASSWORD });
  const begin = async (replacing?: string) =>
    (await application.beginSession.execute({ account, replacing })) ?? 'no session';
  const resume = (token: string) => application.resumeSession.execute(token);
  return { ...application, account, begin, resume, ports, clock: ports.clock };
}

const now = instant(Date.UTC(2026, 0, 1, 12));
const account = anAccount({ credentialVersion: 3 });
const session: Session = {
  id: 'id',
  tokenHash: 'hash',
  accountId: account.id,
  credentialVersion: 3,
  begunAt: later(now, -HOUR),
  usedAt: now,
};
const changed = { ...account, credentialVersion: 4 };

describe('the beginning of a session', () => {
  const given = decisions({ it, expect }, decideBeginning);
  given('the account as it was', account).when('it begins', session).then('it does', session);
  given('another password', changed).when('it begins', session).then('there is none', undefined);
  given('a closed account', undefined).when('it begins', session).then('there is none', undefined);
});

describe('the use of a session', () => {
  const given = decisions({ it, expect }, decideUse);
  const used = (spell: number) => ({ ...session, usedAt: later(now, spell) });
  const recent = given('a session', { session, account });
  recent.when('it is used within a minute', later(now, MINUTE - 1)).then('it stays as it is', session);
  recent.when('it is used after a minute', later(now, MINUTE)).then('that is kept', used(MINUTE));
  const last = SESSION_IDLE_TIME - 1;
  recent.when('it is used at the last moment', later(now, last)).then('that is kept', used(last));
  recent.when('it was idle for too long', later(now, last + 1)).then('it is over', undefined);
  const lasting = given('one in use all day', { session: used(11 * HOUR - 2 * MINUTE), account });
  const end = later(session.begunAt, LONGEST_SESSION);
  lasting.when('twelve hours aren’t over', later(end, -1)).then('that is kept', used(11 * HOUR - 1));
  lasting.when('twelve hours are over', end).then('it is over', undefined);
  given('another password', { session, account: changed }).when('it is used', now).then('it is over', undefined);
});

describe('a session', () => {
  it('is resumed by its token, and never by its id', async () => {
    const { begin, resume, account } = await setUp();
    const person = await resume(await begin());
    expect(person).toMatchObject({ account, left: SESSION_IDLE_TIME, most: LONGEST_SESSION });
    expect(await resume(person?.sessionId ?? '')).toBeUndefined();
  });

  it('ends the one that it replaces', async () => {
    const { begin, resume } = await setUp();
    const former = await begin();
    const token = await begin((await resume(former))?.sessionId);
    expect(await resume(former)).toBeUndefined();
    expect(await resume(token)).toBeDefined();
  });

  it('is written at most once a minute, however much it is used', async () => {
    const { begin, resume, ports, clock } = await setUp();
    const use = jest.spyOn(ports.sessions, 'use');
    const token = await begin();
    clock.advance(MINUTE - 1);
    await resume(token);
    expect(use).not.toHaveBeenCalled();
    clock.advance(1);
    await resume(token);
    expect(use).toHaveBeenCalledTimes(1);
  });

  it('continues with a new token after a password change in it, and ends in other browsers', async () => {
    const { begin, resume, account: before, changePassword, renewSession } = await setUp();
    const idOf = async (token: string) => (await resume(token))?.sessionId ?? '';
    const [here, there] = [await begin(), await begin()];
    const id = await idOf(here);
    const after = await changePassword.execute({ accountId: before.id, current: PASSWORD, next: OTHER });
    const renewed = await renewSession.execute({ id, account: after ?? before });
    expect(await idOf(renewed ?? '')).toBe(id);
    expect([await resume(here), await resume(there)]).toEqual([undefined, undefined]);
  });
});
