import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, it } from '@jest/globals';
import { usePortal } from './support/portal-visitor.js';

const portal = usePortal();

const HEAD = 'POST /sign-in HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\n';

it.each([
  ['its headers', 'POST /sign-in HTTP/1.1\r\nHost: loc'],
  ['a body of which nothing comes', `${HEAD}Content-Length: 30\r\n\r\n`],
  ['a body of known length', `${HEAD}Content-Length: 30\r\n\r\nemail=`],
  ['a body in chunks', `${HEAD}Transfer-Encoding: chunked\r\n\r\n6\r\nemail=\r\n`],
])('a request that is left unfinished within %s is cut within 10 seconds', async (_what, bytes) => {
  const startedAt = performance.now();
  const socket = connect(Number(new URL(portal.origin).port), '127.0.0.1');
  let answer = '';
  socket.on('data', (chunk) => {
    answer += chunk.toString();
  });
  socket.write(bytes);
  await once(socket, 'close');
  expect(answer).toMatch(/^HTTP\/1\.1 408 /);
  expect(performance.now() - startedAt).toBeLessThan(10_000);
});
