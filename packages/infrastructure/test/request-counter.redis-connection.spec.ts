import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type CountedRequest, DEFAULT_BAN_POLICY } from '@adoption-store/domain';
import { askRedis, type RedisServer, redisServerFor } from '@adoption-store/test-support';
import { RedisRequestCounter } from '../src/quotas/redis-request-counter.js';
import { free, newRequester, nextTurn, noon, TIMEOUT } from './request-counters.js';

const openServer = redisServerFor('how a request counter is connected to Redis');
(openServer === undefined ? describe.skip : describe)('the connection of a request counter to Redis', () => {
  let redis: RedisServer;
  const closing: (() => unknown)[] = [];
  beforeEach(async () => {
    if (openServer === undefined) throw new Error('skipped above');
    redis = await openServer();
    closing.push(() => redis.close());
  });
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });

  async function open(timeout = TIMEOUT): Promise<RedisRequestCounter> {
    const counter = await RedisRequestCounter.connect({ urls: [redis.url] }, DEFAULT_BAN_POLICY, timeout);
    closing.push(() => {
      counter.close();
    });
    return counter;
  }
  const newRequest = (): CountedRequest => ({ requester: newRequester(), limits: free, now: noon });
  const becomes = async (counter: RedisRequestCounter, isReady: boolean) => {
    while (counter.isReady !== isReady) await nextTurn();
  };
  /** The counter's connection, as Redis numbers it. */
  const connection = async () => {
    const clients = await askRedis(redis.url, 'CLIENT LIST');
    return /id=(\d+) .*name=adoption-store/.exec(clients)?.[1];
  };
  /** Calls of the script. */
  const calls = async () => {
    const statistics = await askRedis(redis.url, 'INFO commandstats');
    return Number(/cmdstat_evalsha:calls=(\d+)/.exec(statistics)?.[1]);
  };
  /** A server in Redis' place that accepts connections and never answers. */
  async function openSilent(): Promise<readonly Socket[]> {
    const sockets: Socket[] = [];
    const server = createServer((socket) => sockets.push(socket.on('error', () => undefined).resume()));
    await once(server.listen(Number(new URL(redis.url).port), '127.0.0.1'), 'listening');
    closing.push(() => {
      server.close();
      for (const socket of sockets) socket.destroy();
    });
    return sockets;
  }

  it('says why it can’t connect, until it can', async () => {
    await redis.kill();
    const counter = await open();
    expect([counter.isReady, counter.connectionError]).toEqual([
      false,
      expect.objectContaining({ code: 'ECONNREFUSED' }),
    ]);
    await redis.startAgain();
    await becomes(counter, true);
    expect(counter.connectionError).toBeUndefined();
  });

  it('rejects requests and probes at once while it connects, and doesn’t interrupt that', async () => {
    const counter = await open();
    await redis.kill();
    await becomes(counter, false);
    const sockets = await openSilent();
    while (sockets.length === 0) await nextTurn();
    await expect(counter.count(newRequest())).rejects.toThrow('not connected');
    await expect(counter.probe()).rejects.toThrow('not connected');
    for (let turn = 0; turn < 5; turn++) await nextTurn();
    expect(sockets.map(({ readableEnded }) => readableEnded)).toEqual([false]);
  });

  it('replaces a connection without an answer to a probe', async () => {
    const counter = await open(100);
    const before = await connection();
    redis.freeze();
    await expect(counter.probe()).rejects.toThrow('no answer within 100 ms');
    redis.thaw();
    while ([undefined, before].includes(await connection())) await nextTurn();
    await becomes(counter, true);
  });

  it('connects again once Redis refuses to write, because a failover may have moved its address', async () => {
    const counter = await open();
    const before = await connection();
    await askRedis(redis.url, 'REPLICAOF 127.0.0.1 1');
    await expect(counter.count(newRequest())).rejects.toThrow('READONLY');
    while ([undefined, before].includes(await connection())) await nextTurn();
  });

  it('sends the requests of a turn in one call, of at most 500 requesters', async () => {
    const counter = await open();
    // The first call sends the script.
    for (const request of [newRequest(), newRequest()]) await counter.count(request);
    const before = await calls();
    await Promise.all(Array.from({ length: 500 }, () => counter.count(newRequest())));
    expect((await calls()) - before).toBe(1);
    await Promise.all(Array.from({ length: 501 }, () => counter.count(newRequest())));
    expect((await calls()) - before).toBe(3);
  });

  it('has no connection once it is closed', async () => {
    const counter = await open();
    counter.close();
    while ((await connection()) !== undefined) await nextTurn();
    await becomes(counter, false);
  });
});
