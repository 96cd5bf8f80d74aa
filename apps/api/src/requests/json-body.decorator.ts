import type { IncomingMessage } from 'node:http';
import { createParamDecorator, type ExecutionContext, type PipeTransform, type Type } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { HttpRefusal } from '../errors/error-codes.js';
import { type JsonObject, parseJson } from './strict-json.js';
import { validated } from './validation.js';

const requestOf = createParamDecorator((_data: unknown, context: ExecutionContext) =>
  context.switchToHttp().getRequest<FastifyRequest>(),
);

/**
 * Injects the body as an instance of its class, with only the exposed properties, or refuses it with the first broken
 * rule. The guards run before the body is read.
 */
export function JsonBody<Body extends object>(type: Type<Body>): ParameterDecorator {
  const pipe: PipeTransform<FastifyRequest, Promise<Body>> = {
    async transform(request) {
      requireJson(request.raw);
      return validated(type, objectFrom(await bodyOf(request)));
    },
  };
  return requestOf(pipe);
}

function objectFrom(bytes: Buffer): JsonObject {
  const value = parseJson(bytes);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new HttpRefusal('invalid_json', 'the body must be a JSON object');
  }
  return value;
}

// RFC 9110 §8.3.1. RFC 8259 §8.1 requires UTF-8, so another charset is refused.
const JSON_MEDIA_TYPE = /^application\/json\s*(?:;|$)/i;
const CHARSET = /;\s*charset\s*=\s*("?)([^\s;"]*)\1\s*(?=;|$)/gi;

function isJson(contentType: string): boolean {
  const charsets = [...contentType.matchAll(CHARSET)].map(([, , charset]) => charset?.toLowerCase());
  return JSON_MEDIA_TYPE.test(contentType) && charsets.every((charset) => charset === 'utf-8');
}

function requireJson({ headers }: IncomingMessage): void {
  if (!isJson(headers['content-type'] ?? '')) {
    throw new HttpRefusal('unsupported_media_type', 'the Content-Type header must be application/json, in UTF-8');
  }
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw new HttpRefusal('unsupported_media_type', 'the body must be sent without a Content-Encoding');
  }
}

/** The body's bytes. */
export async function bodyOf({ received }: FastifyRequest): Promise<Buffer> {
  return received === undefined ? Buffer.alloc(0) : received.read();
}
