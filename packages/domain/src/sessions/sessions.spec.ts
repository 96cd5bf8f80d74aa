import { describe, expect, it, jest } from '@jest/globals';
import { createApplication } from '../application.js';
import { MINUTE, SECOND } from '../kernel/clock.js';
import { inMemoryPorts } from '../testing/index.js';
import { LONGEST_SESSION, SESSION_IDLE_TIME } from './session.js';

const EMAIL = 'dev@example.com';
const PASSWORD = 'a horse, a battery';
const OTHER = 'a staple, correctly';

async function setUp() {
  const ports = inMemoryPorts();
  const application = createApplication(ports);
  const account = await application.signUp.execute({ email: EMAIL, password: PASSWORD });
  const begin = async (replacing?: string) =>
    (await application.beginSession.execute({ account, replacing })) ?? 'no session';
  const resume = (token: string) => application.resumeSession.execute(token);
  return { ...application, account, begin, resume, ports, clock: ports.clock };
}

describe('a session', () => {
  it('is resumed by its token, and never by its id', async () => {
    const { begin, resume, account } = await setUp();
    const person = await resume(await begin());
    expect(person).toMatchObject({ account, left: SESSION_IDLE_TIME, most: LONGEST_SESSION });
    expect(await resume(person?.sessionId ?? '')).toBeUndefined();
  });

  it('lasts while it is used', async () => {
    const { begin, resume, clock } = await setUp();
    const [used, idle] = [await begin(), await begin()];
    for (let spell = 1; spell < LONGEST_SESSION / SESSION_IDLE_TIME; spell += 1) {
      clock.advance(SESSION_IDLE_TIME - 1);
      expect(await resume(used)).toBeDefined();
    }
    expect(await resume(idle)).toBeUndefined();
  });

  it('ends the one that it replaces, if any', async () => {
    const { begin, resume, ports } = await setUp();
    const end = jest.spyOn(ports.sessions, 'end');
    const former = await begin();
    expect(end).not.toHaveBeenCalled();
    const token = await begin((await resume(former))?.sessionId);
    expect(await resume(former)).toBeUndefined();
    expect(await resume(token)).toBeDefined();
  });

  it('is over after twelve hours, however much it is used', async () => {
    const { begin, resume, clock } = await setUp();
    const token = await begin();
    for (let minute = 1; minute < LONGEST_SESSION / MINUTE; minute += 1) {
      clock.advance(MINUTE);
      expect(await resume(token)).toBeDefined();
    }
    clock.advance(MINUTE);
    expect(await resume(token)).toBeUndefined();
  });

  it('is written at most once a minute, however much it is used', async () => {
    const { begin, resume, ports, clock } = await setUp();
    const use = jest.spyOn(ports.sessions, 'use');
    const token = await begin();
    for (const written of [0, 0, 0, 1, 1]) {
      await resume(token);
      expect(use).toHaveBeenCalledTimes(written);
      clock.advance(20 * SECOND);
    }
  });

  it('continues with a new token after a password change in it, and ends in other browsers', async () => {
    const { begin, resume, account, changePassword, renewSession, endSession } = await setUp();
    const [here, there, ended] = [await begin(), await begin(), await begin()];
    const endedId = (await resume(ended))?.sessionId ?? '';
    await endSession.execute({ id: endedId });
    const id = (await resume(here))?.sessionId ?? '';
    const changed = await changePassword.execute({ accountId: account.id, current: PASSWORD, next: OTHER });
    if (changed === undefined) throw new Error('the password was not changed');
    const renewed = await renewSession.execute({ id, account: changed });
    expect((await resume(renewed ?? ''))?.sessionId).toBe(id);
    expect([await resume(here), await resume(there)]).toEqual([undefined, undefined]);
    expect(await renewSession.execute({ id: endedId, account: changed })).toBeUndefined();
  });

  it('ends with all others of its account', async () => {
    const { begin, resume, account, endAllSessions } = await setUp();
    const tokens = [await begin(), await begin()];
    await endAllSessions.execute({ accountId: account.id });
    expect(await Promise.all(tokens.map(resume))).toEqual([undefined, undefined]);
  });

  it('does not begin if the password was changed meanwhile', async () => {
    const { account, changePassword, beginSession } = await setUp();
    await changePassword.execute({ accountId: account.id, current: PASSWORD, next: OTHER });
    expect(await beginSession.execute({ account })).toBeUndefined();
  });

  it('is deleted once it is over', async () => {
    const { begin, clock, purgeExpired } = await setUp();
    await begin();
    expect(await purgeExpired.execute('sessions')).toBe(0);
    clock.advance(SESSION_IDLE_TIME);
    expect(await purgeExpired.execute('sessions')).toBe(1);
  });
});
