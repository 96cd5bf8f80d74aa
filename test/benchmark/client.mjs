import { Agent, request } from 'node:http';
import { performance } from 'node:perf_hooks';

/** Sends one request `{ method, path, headers, body }`. Returns the status, the headers and the text of the response. */
export function send(agent, origin, { method = 'GET', path, headers = {}, body }) {
  return new Promise((resolve, reject) => {
    const typed = body === undefined ? headers : { 'content-type': 'application/json', ...headers };
    const outgoing = request(origin + path, { agent, method, headers: typed }, (incoming) => {
      let text = '';
      incoming.setEncoding('utf8').on('data', (chunk) => (text += chunk));
      incoming.on('end', () => resolve({ status: incoming.statusCode, headers: incoming.headers, text }));
      incoming.on('error', reject);
    });
    outgoing.on('error', reject).end(body);
  });
}

/**
 * Each of `connections` sends one request after another for `seconds`.
 *
 * @param next returns the next request, or undefined if there is none left, with the status `expected` if that isn't a success.
 * @returns the 95th percentile of the latencies in milliseconds, and the number of failures: responses of 503.
 * @throws Error for another status, because the request was wrong.
 */
export async function closedLoop(origin, next, { connections, seconds }) {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const latencies = [];
  let failed = 0;
  const end = performance.now() + seconds * 1_000;
  const one = async () => {
    while (performance.now() < end) {
      const sent = next();
      if (sent === undefined) return;
      const startedAt = performance.now();
      const { status, text } = await send(agent, origin, sent);
      latencies.push(performance.now() - startedAt);
      if (status === 503) failed += 1;
      else if (status >= 400 && status !== sent.expected) throw new Error(`${sent.path} was ${status}: ${text}`);
    }
  };
  await Promise.all(Array.from({ length: connections }, one));
  agent.destroy();
  latencies.sort((one, other) => one - other);
  return { p95: latencies[Math.floor(latencies.length * 0.95)], failed };
}
