import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { AdoptionStore, ApiError } from '../../src/index.js';
import { type Case, CATS_VALUE, KEY, play } from './cases.js';
import { bytes, HostileServer, type Step } from './hostile-server.js';
import { VirtualClock } from '../support/virtual-clock.js';

const MIB = 2 ** 20;
const TEXT = '{"id":1,"name":"Cats"}';
const MOST = 10 * MIB;

const tooLarge = (status: number) => ({ code: 'response_too_large', kind: 'unexpected_response', status });
/** A category of that many bytes, with spaces behind it. */
const padded = (size: number) => Buffer.concat([Buffer.from(TEXT), Buffer.alloc(size - TEXT.length, ' ')]);

// Each part unpacks to 10 MiB; a gzip file may have any number of them.
const gzipped = gzipSync(Buffer.alloc(MOST, ' '));
const BOMB = Buffer.concat(Array.from({ length: 20 }, () => gzipped));
const gzip = { 'Content-Encoding': 'gzip' };

describe('the size of a body', () => {
  const row = (server: string, step: Step, ends: Case['ends']): Case => ({ server, steps: [step], ends, requests: 1 });
  play([
    row('200 10 MiB', bytes(200, padded(MOST)), CATS_VALUE),
    row('200 10 MiB and a byte', bytes(200, padded(MOST + 1)), tooLarge(200)),
    row('200 10 MiB, packed', bytes(200, gzipSync(padded(MOST)), gzip), CATS_VALUE),
    row('200 10 MiB and a byte, packed', bytes(200, gzipSync(padded(MOST + 1)), gzip), tooLarge(200)),
    row('200 a gzip bomb of 200 MiB in 200 KiB', bytes(200, BOMB, gzip), tooLarge(200)),
    row(
      '200 a bomb of Brotli',
      bytes(200, brotliCompressSync(Buffer.alloc(4 * MOST)), { 'Content-Encoding': 'br' }),
      tooLarge(200),
    ),
    row('200 a gzip bomb in gzip', bytes(200, gzipSync(BOMB), { 'Content-Encoding': 'gzip, gzip' }), tooLarge(200)),
    row('400 a gzip bomb', bytes(400, BOMB, gzip), tooLarge(400)),
    row('500 10 MiB and a byte', bytes(500, padded(MOST + 1)), tooLarge(500)),
    row('503 10 MiB and a byte', bytes(503, padded(MOST + 1)), tooLarge(503)),
    row('429 a gzip bomb', bytes(429, BOMB, gzip), tooLarge(429)),
  ]);
});

describe('memory', () => {
  let server: HostileServer;
  let sent: number;
  let peak: number;

  const watched = () => {
    const { arrayBuffers, heapUsed } = process.memoryUsage();
    return arrayBuffers + heapUsed;
  };

  // 200 MiB, in as many parts as the client takes.
  const flood: Step = async (response) => {
    const part = Buffer.alloc(MIB / 4, ' ');
    response.writeHead(200, { 'Content-Type': 'application/json' });
    while (sent < 200 * MIB && !response.destroyed) {
      sent += part.length;
      peak = Math.max(peak, watched());
      const taken = new Promise((written) => response.write(part, written));
      await taken;
    }
    response.end();
  };

  beforeEach(async () => {
    sent = 0;
    server = await HostileServer.start([flood], new VirtualClock());
    peak = watched();
  });
  afterEach(() => {
    server.close();
  });

  it('stays small while 200 MiB are sent, and reading stops after 10 MiB', async () => {
    const before = peak;
    const store = new AdoptionStore({ baseUrl: `${server.origin}/v1`, apiKey: KEY, clock: new VirtualClock() });
    await expect(store.getCategory(1n)).rejects.toEqual(expect.any(ApiError));
    expect(sent).toBeLessThan(30 * MIB);
    expect(Math.round((peak - before) / MIB)).toBeLessThan(60);
  });
});
