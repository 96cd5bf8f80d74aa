import { describe, expect, it } from '@jest/globals';
import { IncomingMessage, type OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { Writable } from 'node:stream';
import fc from 'fast-check';
import { ApiResponse } from './api-response.js';

type Response = new (request: IncomingMessage) => ServerResponse;

/** What goes to the client, its headers in the order of their names; or why nothing does. */
function sent(type: Response, status: number, headers: unknown, set: [string, string][] = [], body = 'body'): unknown {
  const request = Object.assign(new IncomingMessage(new Socket()), { httpVersionMajor: 1, httpVersionMinor: 1 });
  const response = new type(request);
  let bytes = '';
  const socket = new Writable({
    write(chunk: Buffer, _encoding, done) {
      bytes += chunk.toString('latin1');
      done();
    },
  });
  response.assignSocket(socket as Socket);
  try {
    for (const [name, value] of set) response.setHeader(name, value);
    response.writeHead(status, headers as OutgoingHttpHeaders);
  } catch (error) {
    return error;
  }
  response.end(body);
  const headEnd = bytes.indexOf('\r\n\r\n');
  const head = bytes.slice(0, headEnd);
  const [line, ...lines] = head.replace(/^Date: .*$/m, 'Date: now').split('\r\n');
  return { line, lines: lines.sort(), body: bytes.slice(headEnd), staysOpen: response.shouldKeepAlive };
}

const name = fc.oneof(
  fc.constantFrom('x-request-id', 'link', 'set-cookie', 'X-Mixed', 'not a token', 'x-é', '__proto__', ''),
  fc.constantFrom('connection', 'content-length', 'date', 'keep-alive', 'transfer-encoding', 'content-disposition'),
  fc.string({ maxLength: 8 }),
);
const value = fc.oneof(
  fc.constantFrom('close', 'keep-alive', 'chunked', '4', 'é', 'one\r\ntwo: 2', 'a\u0000b', 'naïve ☃', ''),
  fc.constantFrom<unknown>(4, 1.5, true, null, undefined, ['one', 'two'], []),
  fc.string(),
);
const headers = fc.dictionary(name, value, { maxKeys: 6 });
const status = fc.constantFrom(200, 201, 204, 304, 404, 503, 99);

describe('an answer', () => {
  it('has the headers that Node would send, and is refused where Node refuses', () => {
    fc.assert(
      fc.property(status, headers, (code, given) => {
        expect(sent(ApiResponse, code, given)).toEqual(sent(ServerResponse, code, given));
      }),
      { numRuns: 2_000 },
    );
  });

  it('has the body that Node would send, and is written at once', () => {
    const text = fc.string({ unit: 'binary', maxLength: 50 });
    fc.assert(
      fc.property(status, headers, text, (code, given, body) => {
        const own = { ...given, 'content-length': String(Buffer.byteLength(body)) };
        expect(sent(ApiResponse, code, own, [], body)).toEqual(sent(ServerResponse, code, own, [], body));
      }),
      { numRuns: 2_000 },
    );
  });

  it('has also those that were set before', () => {
    const set: [string, string][] = [
      ['x-one', '1'],
      ['x-two', '2'],
    ];
    const given = { 'x-two': 'two', 'x-three': '3' };
    const answer = sent(ApiResponse, 200, given, set);
    expect(answer).toMatchObject({ lines: expect.arrayContaining(['x-one: 1', 'x-two: two', 'x-three: 3']) });
    expect(answer).toEqual(sent(ServerResponse, 200, given, set));
  });

  it.each([undefined, 'Fine', ['x-one', '1', 'x-two', '2']])('may be begun with %j', (given) => {
    expect(sent(ApiResponse, 200, given)).toEqual(sent(ServerResponse, 200, given));
  });

  it('never has a line that a value would add', () => {
    expect(sent(ApiResponse, 200, { 'x-one': '1\r\nset-cookie: a=b' })).toMatchObject({ code: 'ERR_INVALID_CHAR' });
  });

  it.each([
    ['nothing, once both are over', true],
    ['it, while its request still comes', false],
  ])('leaves its connection with %s', (_what, complete) => {
    const socket = new Socket();
    const request = Object.assign(new IncomingMessage(socket), { complete });
    const response = new ApiResponse(request);
    response.assignSocket(socket);
    socket.latestResponse = response;
    response.detachSocket(socket);
    expect(socket.latestResponse).toBe(complete ? undefined : response);
  });

  it('leaves its connection with a later one', () => {
    const socket = new Socket();
    const [first, second] = [1, 2].map(
      () => new ApiResponse(Object.assign(new IncomingMessage(socket), { complete: true })),
    );
    first?.assignSocket(socket);
    socket.latestResponse = second;
    first?.detachSocket(socket);
    expect(socket.latestResponse).toBe(second);
  });
});
