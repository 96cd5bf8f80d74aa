import { testPolicy } from '../testing/in-memory-application.js';
import { describe, expect, it } from '@jest/globals';
import type { AccountId } from '../accounts/account.js';
import { createApplication } from '../application.js';
import { DAY } from '../kernel/clock.js';
import { inMemoryPorts } from '../testing/index.js';

const alice = 1n as AccountId;

function openStore() {
  const ports = inMemoryPorts();
  const { answerOnce, addAnimal, listAnimals } = createApplication(ports, testPolicy());
  const add = (key: string, accountId = alice, fingerprint = 'add Luna') =>
    answerOnce.execute({ accountId, key, fingerprint }, async () =>
      String((await addAnimal.execute({ name: 'Luna', categoryId: 1n })).id),
    );
  const count = async () => (await listAnimals.execute({ limit: 100 })).items.length;
  return { add, count, clock: ports.clock };
}

describe('a request under an idempotency key', () => {
  it('is refused where the key was used for another request', async () => {
    const { add, count } = openStore();
    await add('key');
    const refused = { code: 'idempotency_key_reused', kind: 'invalid' };
    await expect(add('key', alice, 'add Milo')).rejects.toMatchObject(refused);
    expect(await count()).toBe(1);
  });

  it('is replayed for 24 hours', async () => {
    const { add, clock } = openStore();
    await add('key');
    clock.advance(DAY - 1);
    expect(await add('key')).toMatchObject({ isReplay: true });
    clock.advance(1);
    expect(await add('key', alice, 'add Milo')).toEqual({ answer: '2', isReplay: false });
  });

  it('is refused unless its key has 1 to 255 bytes', async () => {
    const { add, count } = openStore();
    const refused = { code: 'invalid_parameter', message: 'Idempotency-Key must have 1 to 255 bytes' };
    for (const key of ['', 'x'.repeat(256)]) await expect(add(key)).rejects.toMatchObject(refused);
    expect(await count()).toBe(0);
    expect(await add('x'.repeat(255))).toMatchObject({ isReplay: false });
  });
});
