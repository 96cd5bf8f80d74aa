import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type pg from 'pg';
import { keptOf } from './kept-client.js';
import type { Row } from './prepared-query.js';

const STATEMENT = { name: 'one', text: 'SELECT 1' };

/** A client whose queries end when the test says so. */
class Client {
  isLost = false;
  releases = 0;
  isClosed = false;
  readonly running: { end(): void }[] = [];

  queryPrepared(): Promise<readonly Row[]> {
    return new Promise((resolve) => {
      this.running.push({
        end: () => {
          resolve([['1']]);
        },
      });
    });
  }

  release(isToBeClosed = false): void {
    this.releases += 1;
    this.isClosed = isToBeClosed;
  }
}

class Pool {
  readonly clients: Client[] = [];
  waitingCount = 0;
  ending = false;

  connect(): Promise<Client> {
    const client = new Client();
    this.clients.push(client);
    return Promise.resolve(client);
  }
}

let pool: Pool;
beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['performance', 'setImmediate'] });
  pool = new Pool();
});
afterEach(() => {
  jest.useRealTimers();
});

const settled = () => new Promise(setImmediate);

const kept = () => keptOf(pool as unknown as pg.Pool);

async function begin() {
  void kept().query(STATEMENT, [], performance.now());
  await settled();
}

async function end(client: Client | undefined) {
  client?.running.shift()?.end();
  await settled();
}

async function query(client = 0) {
  await begin();
  await end(pool.clients[client]);
}

describe('the kept client', () => {
  it('serves one query after the other, and the pool is asked once', async () => {
    for (let count = 0; count < 10; count += 1) await query();
    expect(pool.clients).toMatchObject([{ releases: 0 }]);
    expect(kept().isIdle).toBe(true);
  });

  it('serves one at a time: who comes meanwhile gets another, which is given back', async () => {
    await query();
    await begin();
    expect(kept().isIdle).toBe(false);
    await begin();
    await end(pool.clients[0]);
    await end(pool.clients[1]);
    expect(pool.clients).toMatchObject([{ releases: 0 }, { releases: 1 }]);
  });

  it('is given back once it has not been used for a while, and not before', async () => {
    await query();
    jest.advanceTimersByTime(50);
    await query();
    jest.advanceTimersByTime(50);
    expect(pool.clients).toMatchObject([{ releases: 0 }]);
    jest.advanceTimersByTime(50);
    expect(pool.clients).toMatchObject([{ releases: 1 }]);
    expect(jest.getTimerCount()).toBe(0);
    await query(1);
    expect(pool.clients).toHaveLength(2);
  });

  it('is given back to those who wait for a connection', async () => {
    await query();
    pool.waitingCount = 1;
    jest.advanceTimersByTime(50);
    expect(pool.clients).toMatchObject([{ releases: 1 }]);
    await query(1);
    expect(pool.clients).toMatchObject([{ releases: 1 }, { releases: 1 }]);
  });

  it('is given back to a pool that ends', async () => {
    await query();
    pool.ending = true;
    jest.advanceTimersByTime(50);
    expect(pool.clients).toMatchObject([{ releases: 1 }]);
  });

  it('is closed with the idle ones, where what has ended a connection may have ended it too', async () => {
    await query();
    kept().drop();
    expect(pool.clients).toMatchObject([{ releases: 1, isClosed: true }]);
    expect(kept().isIdle).toBe(false);
    jest.advanceTimersByTime(100);
    await query(1);
    expect(pool.clients).toMatchObject([{ releases: 1 }, { releases: 0, isClosed: false }]);
  });

  it.each(['while it is idle', 'while it is used'])('is not asked again where it was lost %s', async (when) => {
    await query();
    const [client] = pool.clients;
    if (client === undefined) throw new Error('the pool was not asked');
    if (when === 'while it is used') {
      await begin();
      client.isLost = true;
      await end(client);
    } else client.isLost = true;
    await query(1);
    expect(pool.clients).toMatchObject([{ releases: 1, running: [] }, { releases: 0 }]);
  });
});
