import { describe, expect, it } from '@jest/globals';
import { createApplication } from '../application.js';
import { DAY, instant, later, SECOND } from '../kernel/clock.js';
import { inMemoryPorts } from '../testing/index.js';

const NOON = instant(Date.UTC(2026, 0, 31, 12));
const REFUSED = { operation: 'GET /v1/pets', code: 'invalid_parameter', requestId: 'request-1' };

async function setUp() {
  const ports = inMemoryPorts();
  ports.clock.set(NOON);
  const application = createApplication(ports);
  const { id: accountId } = await application.signUp.execute({
    email: 'dev@example.com',
    password: 'a horse, a battery',
  });
  const { key } = await application.issueKey.execute({ accountId, name: 'till' });
  return { ...application, clock: ports.clock, accountId, key, keyId: key.id };
}

describe('a refused request', () => {
  it('is shown with its time, key, operation, code and id', async () => {
    const { recordRefusal, showRefusals, accountId, key, keyId, clock } = await setUp();
    recordRefusal.execute({ accountId, keyId }, REFUSED);
    clock.advance(SECOND);
    recordRefusal.execute({ accountId, keyId }, { ...REFUSED, code: 'rate_limited', requestId: 'request-2' });
    const shown = { keyId, key: { name: 'till', ending: key.ending }, operation: 'GET /v1/pets' };
    expect(await showRefusals.execute({ accountId })).toEqual([
      { ...shown, at: later(NOON, SECOND), code: 'rate_limited', requestId: 'request-2' },
      { ...shown, at: NOON, code: 'invalid_parameter', requestId: 'request-1' },
    ]);
  });

  it('is found by its id, and nothing by what is no id', async () => {
    const { recordRefusal, showRefusals, accountId, keyId } = await setUp();
    recordRefusal.execute({ accountId, keyId }, REFUSED);
    const find = (requestId: string) => showRefusals.execute({ accountId, requestId });
    expect(await find('request-1')).toHaveLength(1);
    for (const other of ['', 'request', 'request-11', 'REQUEST-1', ' request-1', 'request-1\n', '\0', 'x'.repeat(65)]) {
      expect([other, await find(other)]).toEqual([other, []]);
    }
  });

  it('is kept for a week', async () => {
    const { recordRefusal, showRefusals, purgeExpired, accountId, keyId, clock } = await setUp();
    recordRefusal.execute({ accountId, keyId }, REFUSED);
    clock.advance(7 * DAY);
    expect(await purgeExpired.execute('refusals')).toBe(0);
    clock.advance(1);
    expect(await purgeExpired.execute('refusals')).toBe(1);
    expect(await showRefusals.execute({ accountId })).toEqual([]);
  });

  it('is deleted with its account', async () => {
    const { recordRefusal, showRefusals, closeAccount, accountId, keyId } = await setUp();
    recordRefusal.execute({ accountId, keyId }, REFUSED);
    await closeAccount.execute({ accountId, password: 'a horse, a battery' });
    recordRefusal.execute({ accountId, keyId }, { ...REFUSED, code: 'revoked_api_key' });
    expect(await showRefusals.execute({ accountId })).toEqual([]);
  });
});

it('usage by hour is kept two hours longer than it is shown', async () => {
  const { meterRequest, authenticate, issueKey, purgeExpired, accountId, clock } = await setUp();
  const { text } = await issueKey.execute({ accountId });
  await meterRequest.execute(await authenticate.execute(text));
  clock.advance(50 * 3_600 * SECOND);
  expect(await purgeExpired.execute('hours')).toBe(0);
  clock.advance(1);
  expect(await purgeExpired.execute('hours')).toBe(1);
});
