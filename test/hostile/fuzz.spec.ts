import { connect } from 'node:net';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { errorStatuses } from '@adoption-store/api/testing/expectations';
import { API, createDatabase, KEYS, run, Running, type TestDatabase } from '@adoption-store/test-support';
import { parseResponses, type RawResponse, request } from '@adoption-store/api/testing/raw-http';
import { defectsIn } from '../support/defects.js';
import { type Connection, hostileConnection } from './requests.js';

/** The number of requests. More take longer and prove more. */
const REQUESTS = Number(process.env['FUZZ_RUNS'] ?? 3_000);
const AT_ONCE = 64;
const TIMEOUT = 12_000;
/** Milliseconds without a response after which a client half-closes; the second one if it got no response at all. */
const SILENCES = [100, 5_000];
const SUCCESSES = new Set([200, 201, 202, 204]);

let database: TestDatabase;
let api: Running;
let target: { readonly host: string; readonly port: number };
let key: string;

beforeAll(async () => {
  database = await createDatabase();
  const settings = { DATABASE_URL: database.url, HOST: '127.0.0.1', PORT: '0', ADDRESS_LIMIT: '1000000' };
  // Defects would be hidden among intended 503s.
  api = new Running(API, [], { ...settings, LOG_LEVEL: 'error' });
  const [, address = ''] = await api.prints(/Address {2}(\S+)\/v1/);
  target = { host: '127.0.0.1', port: Number(new URL(address).port) };
  const plan = ['--plan', 'enterprise', '--per-minute', '2000000000', '--per-day', '2000000000'];
  key = (await run(KEYS, ['create', '--email', 'fuzz@example.com', ...plan], settings)).stdout.trim();
});

afterAll(async () => {
  await api.stop();
  await database.drop();
});

const counts = new Map<number, number>();
let answered = 0;
let slowest = 0;

/** Sends everything, half-closes after the responses, and returns everything received until the server closes. */
function exchange({ pieces, requests = Infinity }: Connection, silent: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const startedAt = performance.now();
    const socket = connect({ ...target, allowHalfOpen: true });
    const chunks: Buffer[] = [];
    socket.setTimeout(TIMEOUT, () => {
      socket.destroy(new Error('the server neither answered nor closed'));
    });
    let silence: NodeJS.Timeout | undefined;
    const end = () => socket.end();
    socket.on('data', (chunk) => {
      chunks.push(chunk);
      if (silence === undefined) return;
      silence.refresh();
      if (parseResponses(Buffer.concat(chunks), false).length >= requests) end();
    });
    // Writing to a server that has already answered and closed is not a failure.
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE' && error.code !== 'ECONNRESET') reject(error);
    });
    socket.on('close', () => {
      clearTimeout(silence);
      slowest = Math.max(slowest, performance.now() - startedAt);
      resolve(Buffer.concat(chunks));
    });
    socket.on('end', end);
    socket.on('connect', () => {
      void write(socket, pieces).then(() => {
        silence = setTimeout(end, silent);
      });
    });
  });
}

async function write(socket: ReturnType<typeof connect>, pieces: readonly Buffer[]): Promise<void> {
  for (const piece of pieces) {
    if (!socket.writable) return;
    socket.write(piece);
    await new Promise(setImmediate);
  }
}

/** Checks that a response keeps the contract, whatever the request was. */
function judge({ status, headers, body }: RawResponse, mayLackBody: boolean): void {
  counts.set(status, (counts.get(status) ?? 0) + 1);
  answered += 1;
  const broken = (rule: string) => new Error(`${rule}: ${status} ${JSON.stringify(headers)} ${body.slice(0, 300)}`);
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(headers['x-request-id'] ?? '')) throw broken('no X-Request-Id');
  for (const name of ['limit', 'remaining', 'reset']) {
    if (!/^\d+$/.test(headers[`x-ratelimit-${name}`] ?? '')) throw broken(`no X-RateLimit-${name}`);
  }
  if (SUCCESSES.has(status)) return;
  if (headers['content-type'] !== 'application/json; charset=utf-8') throw broken('another Content-Type');
  if (body === '' && mayLackBody) return;
  const error = JSON.parse(body) as { code: keyof typeof errorStatuses; message: string; status: number };
  if (Object.keys(error).join() !== 'code,message,status' || error.status !== status) throw broken('no Error');
  if (errorStatuses[error.code] !== status || status >= 500) throw broken('not a refusal of the registry');
}

async function answersTo(connection: Connection): Promise<readonly RawResponse[]> {
  let responses: readonly RawResponse[] = [];
  for (const silence of SILENCES) {
    responses = parseResponses(await exchange(connection, silence), true);
    const last = responses.at(-1);
    if (last?.headers['connection'] === 'close' || responses.length >= Math.max(1, connection.requests ?? 1)) break;
  }
  return responses;
}

async function judgeConnection(connection: Connection): Promise<void> {
  const responses = await answersTo(connection);
  const sent = Buffer.concat(connection.pieces);
  for (const response of responses) judge(response, sent.includes('HEAD '));
  if (responses.length === 0 && /\S/.test(sent.toString('latin1'))) throw new Error(`no answer to ${shown(sent)}`);
  const last = responses.at(-1);
  // An error after which the parser can't continue ends the connection.
  const isCut = last?.headers['connection'] === 'close' && last.status >= 400;
  if (connection.requests !== undefined && responses.length !== connection.requests && !isCut) {
    const statuses = responses.map(({ status }) => status).join();
    throw new Error(`${responses.length} answers (${statuses}) to ${connection.requests} requests: ${shown(sent)}`);
  }
}

function shown(bytes: Buffer): string {
  return JSON.stringify(bytes.toString('latin1').slice(0, 3_000));
}

it(
  `answers ${REQUESTS} hostile requests according to the contract, and keeps running`,
  async () => {
    const connections = fc.array(hostileConnection(key), { minLength: 1, maxLength: AT_ONCE, size: 'max' });
    for (let round = 0; answered < REQUESTS; round += 1) {
      await fc.assert(
        fc.asyncProperty(connections, async (all) => {
          await Promise.all(all.map(judgeConnection));
        }),
        { numRuns: 10, endOnFailure: true, ...(round > 0 && { seed: Date.now() + round }) },
      );
    }
    const good = await request(target, '/v1/pets?limit=1', { headers: { Authorization: `Bearer ${key}` } });
    expect(good.status).toBe(200);
    expect(api.child.exitCode).toBeNull();
    expect(defectsIn(api.stdout)).toEqual([]);
    if (process.env['FUZZ_RUNS'] !== undefined) {
      const byStatus = [...counts]
        .sort(([one], [other]) => one - other)
        .map(([status, count]) => `${status}: ${count}`);
      console.log(`${answered} answers (${byStatus.join(', ')}), the slowest connection ${Math.round(slowest)} ms`);
    }
  },
  60_000 + REQUESTS * 3,
);
