import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import fc from 'fast-check';
import type { HttpRefusal } from './error-codes.js';
import { ApiRequest, MAX_BODY_BYTES, MAX_BODY_PIECES } from './api-request.js';

const turn = () => new Promise(setImmediate);
const turns = async (count: number) => {
  for (let passed = 0; passed < count; passed += 1) await turn();
};

let server: Server<typeof ApiRequest>;
let client: Socket;
/** What the next request is answered with. */
let answer: (request: ApiRequest) => Promise<string> | string;

beforeEach(async () => {
  answer = async (request) => (await request.body()).toString('latin1');
  server = createServer({ IncomingMessage: ApiRequest }, (request, response) => {
    const give = async () => answer(request);
    void give().then(
      (text) => response.end(text),
      (error: unknown) => response.end((error as HttpRefusal).code),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  client = connect((server.address() as AddressInfo).port, '127.0.0.1');
});
afterEach(() => {
  client.destroy();
  server.close();
});

const head = (framing: string) => `POST / HTTP/1.1\r\nHost: a\r\n${framing}\r\n\r\n`;
const sized = (length: number) => head(`Content-Length: ${length}`);
const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;

/** The body of the next answer. */
async function answered(): Promise<string> {
  let text = '';
  for (;;) {
    text += String((await once(client, 'data'))[0]);
    const [, length, body] = /Content-Length: (\d+)\r\n\r\n(.*)$/is.exec(text) ?? [];
    if (body?.length === Number(length)) return body;
  }
}

describe('the body of a request', () => {
  it('is what was sent, in whatever pieces it comes and whenever it is asked for', async () => {
    const text = fc.string({ unit: fc.constantFrom('a', '\r', '\n', '0'), maxLength: 200 });
    const cuts = fc.array(fc.nat(400), { maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(text, cuts, fc.boolean(), fc.nat(6), async (sentText, places, isChunked, asksAfter) => {
        answer = async (request) => {
          await turns(asksAfter);
          return (await request.body()).toString('latin1');
        };
        const chunks = sentText === '' ? '' : chunk(sentText);
        const bytes = isChunked
          ? `${head('Transfer-Encoding: chunked')}${chunks}0\r\n\r\n`
          : `${sized(sentText.length)}${sentText}`;
        const ends = [...places.sort((one, other) => one - other), bytes.length];
        const done = answered();
        for (const [index, end] of ends.entries()) {
          client.write(bytes.slice(index === 0 ? 0 : ends[index - 1], end));
          await turn();
        }
        expect(await done).toBe(sentText);
      }),
    );
  });

  it.each([
    ['GET / HTTP/1.1\r\nHost: a\r\n\r\n', ''],
    [`${sized(3)}abc`, 'abc'],
  ])('is there at once where it has come with its head', async (bytes, body) => {
    answer = async (request) => {
      // As after a guard that decides at once.
      await Promise.resolve();
      const come = request.body();
      return come instanceof Promise ? 'not at once' : come.toString();
    };
    client.write(bytes);
    expect(await answered()).toBe(body);
  });

  it('is empty where there is none', async () => {
    client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    expect(await answered()).toBe('');
  });

  it('may be asked for more than once', async () => {
    answer = async (request) => String(await Promise.all([request.body(), request.body()]));
    client.write(`${sized(3)}abc`);
    expect(await answered()).toBe('abc,abc');
  });

  it('is refused as soon as it is known to be too large', async () => {
    client.write(sized(MAX_BODY_BYTES + 1));
    expect(await answered()).toBe('payload_too_large');
  });

  it('is refused as soon as it is too large where nobody has said how large it is', async () => {
    client.write(`${head('Transfer-Encoding: chunked')}${chunk('x'.repeat(MAX_BODY_BYTES + 1))}`);
    expect(await answered()).toBe('payload_too_large');
  });

  it('is taken in as many pieces as there may be', async () => {
    client.write(`${head('Transfer-Encoding: chunked')}${chunk('x').repeat(MAX_BODY_PIECES)}0\r\n\r\n`);
    expect(await answered()).toBe('x'.repeat(MAX_BODY_PIECES));
  });

  it('is refused in one piece more', async () => {
    client.write(`${head('Transfer-Encoding: chunked')}${chunk('x').repeat(MAX_BODY_PIECES + 1)}`);
    expect(await answered()).toBe('payload_too_large');
  });

  it.each(['before', 'after'])('is refused where the connection ends %s it is asked for', async (when) => {
    const refused = new Promise((resolve) => {
      answer = async (request) => {
        const isCut = new Promise((cut) => request.socket.on('close', cut));
        client.destroy();
        if (when === 'before') await isCut;
        await Promise.resolve(request.body()).catch(resolve);
        return '';
      };
    });
    client.write(`${sized(3)}a`);
    expect(await refused).toMatchObject({ code: 'bad_request' });
  });

  it('that nobody wants is in the way of no other request', async () => {
    answer = () => 'not wanted';
    client.write(`${sized(100_000)}${'x'.repeat(10)}`);
    expect(await answered()).toBe('not wanted');
    answer = async (request) => (await request.body()).toString();
    client.write(`${'x'.repeat(99_990)}${sized(3)}abc`);
    expect(await answered()).toBe('abc');
  });
});
