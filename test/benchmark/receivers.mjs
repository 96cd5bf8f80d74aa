/**
 * Receivers of webhooks, in a process of their own. The parent sends the number of deliveries to wait for, and gets the
 * seconds between the first and the last of them.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { performance } from 'node:perf_hooks';

const RECEIVERS = 8;

const arrivals = { seen: new Set(), wanted: 0, begunAt: 0 };

process.on('message', ({ wanted }) => {
  arrivals.wanted = wanted;
  arrivals.seen.clear();
});
process.on('disconnect', () => process.exit());

const ports = [];
for (let receiver = 0; receiver < RECEIVERS; receiver++) {
  const server = createServer((request, response) => {
    request.resume().once('end', () => {
      response.writeHead(204).end();
      count(`${receiver} ${request.headers['webhook-id']}`);
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  ports.push(server.address().port);
}
process.send({ urls: ports.map((port) => `http://127.0.0.1:${port}/`) });

/** A delivery that comes again isn't counted again. */
function count(delivery) {
  const { seen, wanted } = arrivals;
  const before = seen.size;
  seen.add(delivery);
  if (before === 0) arrivals.begunAt = performance.now();
  if (before === wanted - 1 && seen.size === wanted)
    process.send({ seconds: (performance.now() - arrivals.begunAt) / 1_000 });
}
