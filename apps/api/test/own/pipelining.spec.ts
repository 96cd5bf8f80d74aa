import { connect, type Socket } from 'node:net';
import { plan } from '@adoption-store/domain';
import { until } from '@adoption-store/test-support';
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { ApiOptions } from '../../src/create-api.js';
import { useApi } from '../support/api.js';
import { rawHead } from '../support/client.js';
import { exchange, parseResponses, sendUndescribed } from '../support/raw-http.js';

const REQUESTS = 3_000;
const LIMIT = 1_000_000;
/** As socket-errors.ts has it, and the response that the client takes. */
const MOST_UNREAD = 32 + 1;
/** More than a connection waits for, and less than Node reads at once. */
const MANY = 100;

/** What the API has begun on the connection that pipelines. */
const seen = { begun: 0, taken: 0, mostUnread: 0, socket: undefined as Socket | undefined };

const configure: ApiOptions['configure'] = (nest) => {
  nest
    .getHttpAdapter()
    .getInstance()
    .addHook('onRequest', (request, reply, done) => {
      if (request.headers['x-request-id'] !== undefined) {
        seen.socket = request.raw.socket;
        seen.begun += 1;
        seen.mostUnread = Math.max(seen.mostUnread, seen.begun - seen.taken);
        reply.raw.once('finish', () => (seen.taken += 1));
      }
      done();
    });
};

const api = useApi({ configure });
let key: string;

const head = (line: string, ...headers: readonly string[]) =>
  rawHead(api, `${line} HTTP/1.1`, headers, ['Host: a', `Authorization: Bearer ${key}`]);
const list = (id: number) => head('GET /v1/pets?limit=100', `X-Request-Id: ${id}`);
const ids = Array.from({ length: REQUESTS }, (_, id) => id);
const MANY_GETS = () => head('GET /v1/pets?limit=1').repeat(MANY);
const POST = (...headers: readonly string[]) => head('POST /v1/pets', 'Content-Type: application/json', ...headers);
const LUNA = '{"name":"Luna","categoryId":1}';

beforeAll(async () => {
  ({ key } = await api.openKey(plan('enterprise', { perMinute: LIMIT, perDay: LIMIT })));
  // So long that the buffers of the operating system can't take all responses.
  await api.importAnimals(ids.slice(0, 100).map(() => ({ name: 'n'.repeat(255), categoryId: 1n })));
});

describe('of requests that a client pipelines', () => {
  it('few begin and are counted before it reads, and then all are answered in order', async () => {
    const socket = connect(api.port, api.host).pause();
    socket.write(ids.map(list).join(''));
    // Until the API reads no more.
    await until(() => seen.socket?.isPaused() === true || seen.begun === REQUESTS);
    const [neighbour] = await sendUndescribed(api, head('GET /v1/pets?limit=1'));
    expect(LIMIT - Number(neighbour?.headers['x-ratelimit-remaining'])).toBeLessThan(REQUESTS);

    const received: Buffer[] = [];
    let last = '';
    socket.on('data', (chunk) => {
      received.push(chunk);
      last = (last + chunk.toString('latin1')).slice(-100_000);
    });
    socket.resume();
    await until(() => last.includes(`x-request-id: ${REQUESTS - 1}\r\n`) && last.endsWith(']'));
    socket.destroy();
    const responses = parseResponses(Buffer.concat(received));
    expect(responses.map(({ status, headers }) => [status, Number(headers['x-request-id'])])).toEqual(
      ids.map((id) => [200, id]),
    );
    expect(seen.mostUnread).toBeLessThanOrEqual(MOST_UNREAD);
  });

  it('a body may come after the response to an earlier one', async () => {
    const half = MANY_GETS() + POST(`Content-Length: ${LUNA.length}`) + LUNA.slice(0, 9);
    expect(await statusesOf(half, LUNA.slice(9))).toEqual([...Array<number>(MANY).fill(200), 201]);
  });

  it.each([
    ['bytes that are no request', 400, () => 'no request\r\n\r\n'],
    ['a body that can’t be read', 400, () => `${POST('Transfer-Encoding: chunked')}zz\r\n`],
    ['an unknown method', 405, () => head('DESCRIBE /v1/pets')],
  ])('those before %s are answered first', async (_what, status, bytes) => {
    expect(await statusesOf(MANY_GETS() + bytes())).toEqual([...Array<number>(MANY).fill(200), status]);
  });
});

async function statusesOf(...parts: readonly string[]): Promise<readonly number[]> {
  const responses = await exchange(api, MANY + 1, parts);
  return responses.map(({ status }) => status);
}
