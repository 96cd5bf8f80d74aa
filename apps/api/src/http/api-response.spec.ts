import { describe, expect, it } from '@jest/globals';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { Writable } from 'node:stream';
import fc from 'fast-check';
import { ApiResponse, headerLine, headerLines } from './api-response.js';

/** What goes to the client, its headers in the order of their names, and in how many writes. */
function sent<Response extends ServerResponse>(
  type: new (request: IncomingMessage) => Response,
  method: string,
  send: (response: Response) => void,
): { line: string | undefined; lines: string[]; body: string; writes: number } {
  const given = { method, httpVersionMajor: 1, httpVersionMinor: 1 };
  const response = new type(Object.assign(new IncomingMessage(new Socket()), given));
  const writes: string[] = [];
  const socket = new Writable({
    write(chunk: Buffer, _encoding, done) {
      writes.push(chunk.toString('latin1'));
      done();
    },
  });
  response.assignSocket(socket as Socket);
  send(response);
  const bytes = writes.join('');
  const headEnd = bytes.indexOf('\r\n\r\n');
  const head = bytes.slice(0, headEnd);
  const [line, ...lines] = head.replace(/^Date: .*$/m, 'Date: now').split('\r\n');
  return { line, lines: lines.sort(), body: bytes.slice(headEnd), writes: writes.length };
}

const method = fc.constantFrom('GET', 'POST', 'HEAD');
const status = fc.constantFrom(200, 201, 202, 204, 304, 404, 503);
const name = fc.constantFrom('x-request-id', 'link', 'location', 'deprecation', 'sunset', 'x-stability', 'ratelimit');
const value = fc.string({ unit: 'grapheme-ascii', maxLength: 40 });
const headers = fc.dictionary(name, value, { maxKeys: 7 });
const text = fc.string({ unit: 'binary', maxLength: 50 });

describe('an answer', () => {
  it('is what Node would send, in one write', () => {
    fc.assert(
      fc.property(method, status, headers, headers, text, (asked, code, told, limits, body) => {
        const { writes, ...answer } = sent(ApiResponse, asked, (response) => {
          response.statusCode = code;
          response.limits = headerLines(limits);
          for (const [each, its] of Object.entries(told)) response.tell(headerLine(each, its));
          response.answer(body);
        });
        const { writes: _, ...expected } = sent(ServerResponse, asked, (response) => {
          const type = ['content-type', 'application/json; charset=utf-8'];
          const size = ['content-length', String(Buffer.byteLength(body))];
          const all = [...Object.entries(told), ...Object.entries(limits)].flat();
          response.writeHead(code, [...all, ...type, ...size]).end(body);
        });
        expect(answer).toEqual(expected);
        expect(writes).toBe(1);
      }),
      { numRuns: 2_000 },
    );
  });

  it('holds nothing of its body once that is sent', () => {
    let held: string | null | undefined;
    sent(ApiResponse, 'GET', (response) => {
      response.answer('{"id":1}');
      held = response._header;
    });
    expect(held).toMatch(/^HTTP[^]*\r\n\r\n$/);
  });

  it('has its lines also where somebody else sends it', () => {
    const { lines } = sent(ApiResponse, 'GET', (response) => {
      response.tell(headerLine('x-one', '1'));
      response.writeHead(404, { 'x-two': '2' }).end('not found');
    });
    expect(lines).toEqual(expect.arrayContaining(['x-one: 1', 'x-two: 2']));
  });

  it('never has a line that a value would add, nor what Node would refuse', () => {
    fc.assert(
      fc.property(fc.oneof(text, fc.constant('1\r\nset-cookie: a=b')), (any) => {
        const isRefused = /[^\t -~]/.test(any);
        const line = () => headerLine('x-one', any);
        if (isRefused) expect(line).toThrow('the x-one header must be printable ASCII');
        else expect(line()).toBe(`\r\nx-one: ${any}`);
      }),
      { numRuns: 2_000 },
    );
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
