import { expect, it, jest } from '@jest/globals';
import { createApplication } from './application.js';
import { DAY, later } from './kernel/clock.js';
import { inMemoryPorts } from './testing/index.js';

function setUp() {
  const ports = inMemoryPorts();
  const application = createApplication(ports);
  const open = () => application.openAccount.execute({ email: 'dev@example.com' });
  return { ...application, ports, clock: ports.clock, open };
}

it('counts are cleared away by the counter that keeps them', async () => {
  const { ports, clock, purgeExpired } = setUp();
  const purge = jest.spyOn(ports.requests, 'purge').mockResolvedValue(7);
  expect(await purgeExpired.execute('counts')).toBe(7);
  expect(purge.mock.calls).toEqual([[clock.now()]]);
});

it('sent and failed messages are deleted 90 days after they were created, and queued ones never', async () => {
  const { ports, clock, open, queueMessage, getMessage, purgeExpired } = setUp();
  const { id: accountId } = await open();
  const write = async () => (await queueMessage.execute({ accountId, text: 'Hello' })).id;
  const [sent, failed, queued] = [await write(), await write(), await write()];
  await ports.messages.markSent(sent);
  const claims = await ports.messages.claim({ limit: 9, lease: 1 });
  const claim = claims.find(({ id }) => id === failed);
  if (claim === undefined) throw new Error('the message was not claimed');
  await ports.messages.markFailed(claim);
  clock.advance(90 * DAY - 1);
  const young = await write();
  await ports.messages.markSent(young);
  expect(await purgeExpired.execute('messages')).toBe(0);
  clock.advance(1);
  expect(await purgeExpired.execute('messages')).toBe(2);
  for (const id of [sent, failed]) {
    await expect(getMessage.execute({ accountId, id })).rejects.toMatchObject({ code: 'not_found' });
  }
  expect(await getMessage.execute({ accountId, id: queued })).toMatchObject({ status: 'queued' });
  expect(await getMessage.execute({ accountId, id: young })).toMatchObject({ status: 'sent' });
});

it('keys are deleted 400 days after they were revoked or expired, and active ones never', async () => {
  const { clock, open, issueKey, revokeKey, listKeys, authenticate, purgeExpired } = setUp();
  const { id: accountId } = await open();
  const lasting = await issueKey.execute({ accountId });
  const revoked = await issueKey.execute({ accountId });
  await revokeKey.execute({ id: revoked.key.id });
  const expiring = await issueKey.execute({ accountId, expiresAt: later(clock.now(), DAY) });
  const ids = async () => (await listKeys.execute({ accountId })).map(({ key }) => key.id);
  clock.advance(400 * DAY - 1);
  expect(await purgeExpired.execute('keys')).toBe(0);
  clock.advance(1);
  expect(await purgeExpired.execute('keys')).toBe(1);
  expect(await ids()).toEqual([lasting.key.id, expiring.key.id]);
  await expect(authenticate.execute(revoked.text)).rejects.toMatchObject({ code: 'invalid_api_key' });
  clock.advance(DAY);
  expect(await purgeExpired.execute('keys')).toBe(1);
  expect(await ids()).toEqual([lasting.key.id]);
  expect(await authenticate.execute(lasting.text)).toMatchObject({ key: { id: lasting.key.id } });
});

it('an account makes at most 1,000 keys a UTC day, rotations included', async () => {
  const { clock, open, issueKey, rotateKey, revokeKey } = setUp();
  clock.set(later(clock.now(), DAY - (clock.now() % DAY)));
  const { id: accountId } = await open();
  let { key } = await issueKey.execute({ accountId });
  for (let made = 1; made < 999; made += 1) {
    const next = await issueKey.execute({ accountId });
    await revokeKey.execute({ id: next.key.id });
  }
  ({ key } = await rotateKey.execute({ id: key.id, overlap: 0 }));
  const refused = { code: 'too_many_keys', message: expect.stringContaining('1000 API keys today') as unknown };
  await expect(issueKey.execute({ accountId })).rejects.toMatchObject(refused);
  await expect(rotateKey.execute({ id: key.id, overlap: 0 })).rejects.toMatchObject(refused);
  clock.advance(DAY);
  expect(await issueKey.execute({ accountId })).toMatchObject({ key: { accountId } });
});
