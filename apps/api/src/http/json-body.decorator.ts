import type { IncomingMessage } from 'node:http';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { HttpRefusal } from './error-codes.js';
import { type JsonObject, parseJson } from './strict-json.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** The body, once somebody has asked for it (`bodyOf`). */
    bytes?: Promise<Buffer>;
  }
}

export const MAX_BODY_BYTES = 64 * 1024;

/**
 * The body as a JSON object. Fastify leaves bodies alone (see create-api.ts), so nothing of one is looked at before the
 * guards have let the request in.
 */
export const JsonBody = createParamDecorator(async (_data: unknown, context: ExecutionContext): Promise<JsonObject> => {
  const request = context.switchToHttp().getRequest<FastifyRequest>();
  requireJson(request.raw);
  const value = parseJson(await bodyOf(request));
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new HttpRefusal('invalid_json', 'the body must be a JSON object');
  }
  return value;
});

// RFC 9110 §8.3.1; whatever else the header says, the charset must be UTF-8, as RFC 8259 §8.1 has it.
const JSON_MEDIA_TYPE = /^application\/json\s*(?:;|$)/i;
const CHARSET = /;\s*charset\s*=\s*("?)([^\s;"]*)\1\s*(?=;|$)/gi;

function requireJson({ headers }: IncomingMessage): void {
  const contentType = headers['content-type'] ?? '';
  const charsets = [...contentType.matchAll(CHARSET)].map(([, , charset]) => charset?.toLowerCase());
  if (!JSON_MEDIA_TYPE.test(contentType) || charsets.some((charset) => charset !== 'utf-8')) {
    throw new HttpRefusal('unsupported_media_type', 'the Content-Type header must be application/json, in UTF-8');
  }
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw new HttpRefusal('unsupported_media_type', 'the body must be sent without a Content-Encoding');
  }
}

/** The body's bytes, for as many as ask for them. */
export function bodyOf(request: FastifyRequest): Promise<Buffer> {
  return (request.bytes ??= readBody(request.raw));
}

// Not `for await`: leaving that loop early destroys the socket, and the refusal with it.
function readBody(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    if (Number(request.headers['content-length']) > MAX_BODY_BYTES) throw tooLarge();
    const chunks: Buffer[] = [];
    let length = 0;
    request.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length > MAX_BODY_BYTES) reject(tooLarge());
      else chunks.push(chunk);
    });
    request.on('end', () => {
      resolve(Buffer.concat(chunks));
    });
    request.on('error', () => {
      reject(new HttpRefusal('bad_request', 'the body was cut off'));
    });
  });
}

function tooLarge(): HttpRefusal {
  // The connection stays, and Node reads on without keeping anything: closed amid a body it would be reset, and the
  // answer with it. What never ends is cut off by the request's timeout.
  return new HttpRefusal('payload_too_large', `the body must be at most ${MAX_BODY_BYTES} bytes`);
}
