import { describe, expect, it } from '@jest/globals';
import { createApplication } from '../application.js';
import { DAY, instant, later, MINUTE, SECOND } from '../kernel/clock.js';
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
  return { ...application, records: ports.requestRecords, clock: ports.clock, accountId, key, keyId: key.id };
}

describe('an answered request', () => {
  it('is a use of its key and operation in that minute, unless the key was refused', async () => {
    const { recordRequest, showKey, accountId, keyId, clock } = await setUp();
    const record = (isUse: boolean, operation?: string) => {
      recordRequest.execute({ accountId, keyId }, { isUse, operation });
    };
    const shown = async () => {
      const { key, operations } = await showKey.execute({ accountId, id: keyId });
      return [key.lastUsedAt, operations];
    };
    record(false, 'list');
    expect(await shown()).toEqual([undefined, []]);
    clock.set(later(NOON, 61 * SECOND));
    record(true);
    expect(await shown()).toEqual([later(NOON, MINUTE), []]);
    clock.set(later(NOON, 121 * SECOND));
    record(true, 'list');
    const list = [{ operation: 'list', lastUsedAt: later(NOON, 2 * MINUTE) }];
    expect(await shown()).toEqual([later(NOON, 2 * MINUTE), list]);
    clock.set(NOON);
    record(true, 'list');
    expect(await shown()).toEqual([later(NOON, 2 * MINUTE), list]);
  });

  it('is counted by the verdict of the limits, if they were asked', async () => {
    const { recordRequest, meterRequest, issueKey, authenticate, records, accountId } = await setUp();
    const caller = await authenticate.execute((await issueKey.execute({ accountId })).text);
    recordRequest.execute(caller, { isUse: true });
    expect(await records.listUsage(accountId, 'hour', NOON)).toEqual([]);
    for (let sent = 0; sent < 61; sent += 1) {
      recordRequest.execute(caller, { isUse: true, verdict: await meterRequest.execute(caller) });
    }
    expect(await records.listUsage(accountId, 'hour', NOON)).toEqual([{ start: NOON, admitted: 60, refused: 1 }]);
    expect(await records.listRefusals(accountId)).toEqual([]);
  });
});

describe('a refused request', () => {
  it('is shown with its time, key, operation, code and id', async () => {
    const { recordRequest, showRefusals, accountId, key, keyId, clock } = await setUp();
    recordRequest.execute({ accountId, keyId }, { isUse: true, refusal: REFUSED });
    clock.advance(SECOND);
    recordRequest.execute(
      { accountId, keyId },
      { isUse: true, refusal: { ...REFUSED, code: 'rate_limited', requestId: 'request-2' } },
    );
    const shown = { keyId, key: { name: 'till', ending: key.ending }, operation: 'GET /v1/pets' };
    expect(await showRefusals.execute({ accountId })).toEqual([
      { ...shown, at: later(NOON, SECOND), code: 'rate_limited', requestId: 'request-2' },
      { ...shown, at: NOON, code: 'invalid_parameter', requestId: 'request-1' },
    ]);
  });

  it('is found by its id, and nothing by what is no id', async () => {
    const { recordRequest, showRefusals, accountId, keyId } = await setUp();
    recordRequest.execute({ accountId, keyId }, { isUse: true, refusal: REFUSED });
    const find = (requestId: string) => showRefusals.execute({ accountId, requestId });
    expect(await find('request-1')).toHaveLength(1);
    for (const other of ['', 'request', 'request-11', 'REQUEST-1', ' request-1', 'request-1\n', '\0', 'x'.repeat(65)]) {
      expect([other, await find(other)]).toEqual([other, []]);
    }
  });

  it('is kept for a week', async () => {
    const { recordRequest, showRefusals, purgeExpired, accountId, keyId, clock } = await setUp();
    recordRequest.execute({ accountId, keyId }, { isUse: true, refusal: REFUSED });
    clock.advance(7 * DAY);
    expect(await purgeExpired.execute('refusals')).toBe(0);
    clock.advance(1);
    expect(await purgeExpired.execute('refusals')).toBe(1);
    expect(await showRefusals.execute({ accountId })).toEqual([]);
  });

  it('is deleted with its account', async () => {
    const { recordRequest, showRefusals, closeAccount, accountId, keyId } = await setUp();
    recordRequest.execute({ accountId, keyId }, { isUse: true, refusal: REFUSED });
    await closeAccount.execute({ accountId, password: 'a horse, a battery' });
    recordRequest.execute({ accountId, keyId }, { isUse: false, refusal: { ...REFUSED, code: 'revoked_api_key' } });
    expect(await showRefusals.execute({ accountId })).toEqual([]);
  });
});

it('usage by hour is kept two hours longer than it is shown', async () => {
  const { meterRequest, authenticate, issueKey, recordRequest, purgeExpired, accountId, clock } = await setUp();
  const caller = await authenticate.execute((await issueKey.execute({ accountId })).text);
  recordRequest.execute(caller, { isUse: true, verdict: await meterRequest.execute(caller) });
  clock.advance(50 * 3_600 * SECOND);
  expect(await purgeExpired.execute('hours')).toBe(0);
  clock.advance(1);
  expect(await purgeExpired.execute('hours')).toBe(1);
});
