import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { useApi } from '@adoption-store/api/testing/api';
import { expectError } from '@adoption-store/api/testing/expectations';
import { get } from '@adoption-store/api/testing/pets-client';
import { parseResponses } from '@adoption-store/api/testing/raw-http';

const EACH_KIND = 100;
/** Requests that a slow client sends byte by byte and never completes. */
const KINDS = {
  'its headers': (key: string) => `GET /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nX-Slow: `,
  'its body': (key: string) =>
    `POST /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: 5000\r\n\r\n`,
  'a chunk': (key: string) =>
    `POST /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n1000\r\n`,
};

// Slow headers are refused before authentication and count against their address, which is the same for all here.
const api = useApi({}, { addressLimit: 1_000 });

class SlowClient {
  private readonly socket: Socket;
  private readonly received: Buffer[] = [];
  private readonly startedAt = performance.now();
  readonly closed: Promise<{ readonly after: number; readonly bytes: Buffer }>;

  constructor(head: string) {
    this.socket = connect(api.port, api.host);
    this.socket.write(head);
    this.socket.on('data', (chunk) => this.received.push(chunk));
    this.socket.on('error', () => undefined);
    const trickle = setInterval(() => this.socket.writable && this.socket.write(' '), 200);
    this.closed = new Promise((resolve) => {
      this.socket.on('close', () => {
        clearInterval(trickle);
        resolve({ after: performance.now() - this.startedAt, bytes: Buffer.concat(this.received) });
      });
    });
  }
}

it(`hundreds of clients that never finish are answered 408 within 10 s, and a good one is served meanwhile`, async () => {
  const clients = Object.values(KINDS).flatMap((head) =>
    Array.from({ length: EACH_KIND }, () => new SlowClient(head(api.key))),
  );
  const over = new AbortController();
  const closing = Promise.all(clients.map(({ closed }) => closed)).finally(() => {
    over.abort();
  });
  let served = 0;
  let slowest = 0;
  while (!over.signal.aborted) {
    const startedAt = performance.now();
    expect((await get(api, '/v1/pets?limit=1')).status).toBe(200);
    slowest = Math.max(slowest, performance.now() - startedAt);
    served += 1;
    await delay(20);
  }
  for (const { after, bytes } of await closing) {
    expectError(parseResponses(bytes, true)[0], 408, 'request_timeout');
    expect(after).toBeLessThan(10_500);
  }
  expect(served).toBeGreaterThan(100);
  // A request that had to wait for the slow clients would take their ten seconds.
  expect(slowest).toBeLessThan(5_000);
});
