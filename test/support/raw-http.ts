import { connect } from 'node:net';

export interface RawResponse {
  readonly status: number;
  /** Names in lower case; a header sent more than once is joined by ", ". */
  readonly headers: Readonly<Record<string, string>>;
  /** The body's bytes, chunking undone. */
  readonly body: string;
}

export interface Target {
  readonly host: string;
  readonly port: number;
}

/** Sends the bytes as they are and reads until the server closes, or until `count` answers are complete. */
export async function sendRaw(target: Target, bytes: string | Buffer, count = 1): Promise<RawResponse[]> {
  const socket = connect(target.port, target.host);
  const chunks: Buffer[] = [];
  try {
    return await new Promise((resolve, reject) => {
      socket.setTimeout(20_000, () => {
        reject(new Error(`no answer, only ${JSON.stringify(Buffer.concat(chunks).toString('latin1'))}`));
      });
      socket.on('connect', () => socket.write(bytes));
      socket.on('error', reject);
      socket.on('data', (chunk) => {
        chunks.push(chunk);
        const responses = parseResponses(Buffer.concat(chunks), false);
        if (responses.length >= count) resolve(responses);
      });
      socket.on('close', () => {
        resolve(parseResponses(Buffer.concat(chunks), true));
      });
    });
  } finally {
    socket.destroy();
  }
}

export interface RequestOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

/** One well-formed request, its target and body sent byte for byte. */
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

/** The complete responses at the start of what came. An answer to HEAD is complete, without its body, at the end only. */
function parseResponses(bytes: Buffer, isEnd: boolean): RawResponse[] {
  const responses: RawResponse[] = [];
  for (let rest = bytes; ;) {
    const parsed = parseResponse(rest, isEnd);
    if (!parsed) return responses;
    if (parsed.response.status >= 200) responses.push(parsed.response);
    rest = parsed.rest;
  }
}

function parseResponse(bytes: Buffer, isEnd: boolean): { response: RawResponse; rest: Buffer } | undefined {
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
  if (bytes.length < start + length && !(isEnd && bytes.length === start)) return undefined;
  const response = {
    status: Number(statusLine.split(' ')[1]),
    headers,
    body: bytes.toString('utf8', start, start + length),
  };
  return { response, rest: bytes.subarray(start + length) };
}
