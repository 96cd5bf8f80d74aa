import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parseResponses } from '@adoption-store/api/testing/raw-http';
import { useAttackedApi } from './attacked-api.js';
import { type Connection, hostileConnection } from './connections.js';
import { expectContract } from './contract.js';

/** Rounds of up to 16 connections. More rounds take longer and prove more. */
const ROUNDS = Number(process.env['FUZZ_RUNS'] ?? 20);
const AT_ONCE = 16;
/** Milliseconds. It only detects a hang: the server ends any request after 8 s. */
const HANG = 60_000;
/** Milliseconds of silence after which the client of a broken request closes its half. */
const SILENCE = 100;

const api = useAttackedApi();

/** Sends the pieces, and returns everything received until the server closes. */
async function exchange({ pieces, requests }: Connection): Promise<Buffer> {
  const socket = connect({ ...api.target, allowHalfOpen: true });
  const received: Buffer[] = [];
  // The server may have answered and closed while the client still writes.
  const broken: NodeJS.ErrnoException[] = [];
  socket
    .on('error', (error) => broken.push(error))
    .on('data', (chunk) => received.push(chunk))
    .on('end', () => socket.end());
  socket.setTimeout(HANG, () => socket.destroy(new Error('the server neither answered nor closed')));
  const closed = new Promise((resolve) => socket.on('close', resolve));
  await Promise.race([once(socket, 'connect'), closed]);
  for (const piece of pieces) {
    if (!socket.writable) break;
    socket.write(piece);
    await new Promise(setImmediate);
  }
  if (requests === undefined) {
    const silence = setTimeout(() => socket.end(), SILENCE);
    socket
      .on('data', () => silence.refresh())
      .on('close', () => {
        clearTimeout(silence);
      });
  }
  await closed;
  expect(broken.filter(({ code = '' }) => !['EPIPE', 'ECONNRESET'].includes(code))).toEqual([]);
  return Buffer.concat(received);
}

async function judgeConnection(connection: Connection): Promise<number> {
  const sent = Buffer.concat(connection.pieces);
  const responses = parseResponses(await exchange(connection));
  for (const response of responses) {
    expectContract(response);
    expect(response.status).toBeLessThan(500);
    if (response.status >= 400 && !sent.includes('HEAD ')) expect(response.body).not.toBe('');
  }
  const last = responses.at(-1);
  // An error after which the parser can't continue ends the connection.
  const isCut = last?.headers['connection'] === 'close' && last.status >= 400;
  if (connection.requests !== undefined && responses.length !== connection.requests && !isCut) {
    const statuses = responses.map(({ status }) => status).join();
    const shown = JSON.stringify(sent.toString('latin1').slice(0, 3_000));
    throw new Error(`${responses.length} answers (${statuses}) to ${connection.requests} requests: ${shown}`);
  }
  return responses.length;
}

it(
  'hostile connections are answered according to the contract, and honest clients as if there were none',
  async () => {
    const connections = fc.array(hostileConnection(api.key), {
      minLength: AT_ONCE / 2,
      maxLength: AT_ONCE,
      size: 'max',
    });
    let answered = 0;
    await fc.assert(
      fc.asyncProperty(connections, async (all) => {
        let pending = all.length;
        const judged = all.map((connection) =>
          judgeConnection(connection).finally(() => {
            pending -= 1;
          }),
        );
        const beHonest = async () => {
          do await api.expectUnharmed();
          while (pending > 0);
        };
        const [counts] = await Promise.all([Promise.all(judged), beHonest()]);
        for (const count of counts) answered += count;
      }),
      { numRuns: ROUNDS, endOnFailure: true },
    );
    await api.expectUnharmed();
    expect(answered).toBeGreaterThan(10 * ROUNDS);
  },
  60_000 + ROUNDS * 10_000,
);
