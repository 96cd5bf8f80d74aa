import { connect, type Socket } from 'node:net';
import { expectDescribed, type RawResponse } from './description.js';

export type { RawResponse };

/** Longest wait for a response, in milliseconds. */
const LONGEST_SILENCE = 20_000;

export interface Target {
  readonly host: string;
  readonly port: number;
}

/**
 * Sends the bytes unchanged and reads until the server closes, or until `count` responses are complete. Fails if the
 * OpenAPI description doesn't contain a response.
 */
export async function sendRaw(target: Target, bytes: string | Buffer, count = 1): Promise<RawResponse[]> {
  const responses = await sendUndescribed(target, bytes, count);
  expectDescribed(bytes, responses);
  return responses;
}

/** The same of a server that isn't the API, whose answers no description has. */
export function sendUndescribed(target: Target, bytes: string | Buffer, count = 1): Promise<RawResponse[]> {
  return exchange(target, count, [bytes]);
}

/** As the last part: the client half-closes after the earlier responses, in the middle of the current request. */
export const CUT = Symbol('the client closes its half');

export type Part = string | Buffer | typeof CUT;

/**
 * Sends the parts separately, and half-closes after `count` responses. Reads until the server closes. Everything
 * received must be complete responses.
 */
export async function exchange(target: Target, count: number, parts: readonly Part[]): Promise<RawResponse[]> {
  const socket = connect({ port: target.port, host: target.host, allowHalfOpen: true, noDelay: true });
  const awaited = parts.at(-1) === CUT ? count - 1 : count;
  const chunks: Buffer[] = [];
  let isSent = false;
  const endInTime = () => {
    if (isSent && readResponses(Buffer.concat(chunks)).responses.length >= awaited) socket.end();
  };
  try {
    const bytes = await new Promise<Buffer>((resolve, reject) => {
      const came = () => Buffer.concat(chunks);
      socket.setTimeout(LONGEST_SILENCE, () => {
        reject(new Error(`no answer, only ${JSON.stringify(came().toString('latin1'))}`));
      });
      // A server that closes may not have read all that was sent.
      socket.on('error', (error) => {
        if (readResponses(came()).responses.length >= awaited) resolve(came());
        else reject(error);
      });
      socket.on('data', (chunk) => {
        chunks.push(chunk);
        endInTime();
      });
      socket.on('end', () => {
        resolve(came());
      });
      const bytes = parts.filter((part) => part !== CUT);
      socket.on('connect', () => {
        sendInTurn(socket, bytes, () => {
          isSent = true;
          endInTime();
        });
      });
    });
    return parseResponses(bytes);
  } finally {
    socket.destroy();
  }
}

/** One part per turn of the event loop, so that they aren't combined into one packet. */
function sendInTurn(socket: Socket, [part, ...others]: readonly (string | Buffer)[], done: () => void): void {
  if (part !== undefined) socket.write(part, 'latin1');
  if (others.length === 0) done();
  else setImmediate(sendInTurn, socket, others, done);
}

export interface RequestOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer | undefined;
}

/** Sends one well-formed request, with target and body byte for byte. */
export async function request(target: Target, path: string, options: RequestOptions = {}): Promise<RawResponse> {
  const { method = 'GET', headers = {}, body = '' } = options;
  const bytes = Buffer.from(body);
  const lines = [
    `${method} ${path} HTTP/1.1`,
    `Host: ${target.host}:${target.port}`,
    'Connection: close',
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ...(bytes.length > 0 || method === 'POST' ? [`Content-Length: ${bytes.length}`] : []),
  ];
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
  const [response] = await sendRaw(target, Buffer.concat([head, bytes]), Infinity);
  if (!response) throw new Error(`${method} ${path} was closed without an answer`);
  return response;
}

/** The responses that a connection has brought by its end. */
export function parseResponses(bytes: Buffer): RawResponse[] {
  const { responses, rest } = readResponses(bytes);
  if (rest.length > 0) throw new Error(`an answer was cut short: ${rest.toString('latin1')}`);
  return responses;
}

/** The complete responses at the start of the bytes. One without its body is taken for the response to a HEAD. */
function readResponses(bytes: Buffer): { responses: RawResponse[]; rest: Buffer } {
  const responses: RawResponse[] = [];
  let rest = bytes;
  for (let parsed = parseResponse(rest); parsed !== undefined; parsed = parseResponse(rest)) {
    if (parsed.response.status >= 200) responses.push(parsed.response);
    rest = parsed.rest;
  }
  return { responses, rest };
}

function parseResponse(bytes: Buffer): { response: RawResponse; rest: Buffer } | undefined {
  const end = bytes.indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  const [statusLine = '', ...lines] = bytes.toString('latin1', 0, end).split('\r\n');
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    headers[name] = name in headers ? `${headers[name] ?? ''}, ${value}` : value;
  }
  const length = Number(headers['content-length'] ?? 0);
  const start = end + 4;
  const isBodiless = bytes.length === start || bytes.toString('latin1', start, start + 5) === 'HTTP/';
  if (bytes.length < start + length && !isBodiless) return undefined;
  const next = isBodiless ? start : start + length;
  const response = { status: Number(statusLine.split(' ')[1]), headers, body: bytes.toString('utf8', start, next) };
  return { response, rest: bytes.subarray(next) };
}
