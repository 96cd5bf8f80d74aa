import { EventEmitter, once } from 'node:events';
import { expect, it } from '@jest/globals';
import fastify from 'fastify';
import { boundUnfinishedBodies } from './unfinished-bodies.js';

it('a request counts only until its body has arrived', async () => {
  const server = fastify();
  const all = new EventEmitter().setMaxListeners(0);
  let answered = 0;
  const meet = async () => {
    const met = once(all, 'met');
    answered += 1;
    if (answered === 40) all.emit('met');
    await met;
  };
  boundUnfinishedBodies(server, 8_000);
  server.post('/', async () => {
    await meet();
    return 'taken';
  });
  const origin = await server.listen({ port: 0, host: '127.0.0.1' });
  const statuses = await Promise.all(
    Array.from({ length: 40 }, async () => {
      const headers = { 'content-type': 'application/json' };
      const { status } = await fetch(origin, { method: 'POST', headers, body: '{"a": 1}' });
      // Otherwise the other requests would wait for ever.
      if (status !== 200) void meet();
      return status;
    }),
  );
  await server.close();
  expect(statuses).toEqual(statuses.map(() => 200));
});
