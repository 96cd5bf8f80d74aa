import type { IncomingMessage } from 'node:http';
import { createParamDecorator, type ExecutionContext, type Type } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { HttpRefusal } from './error-codes.js';
import { type JsonObject, parseJson } from './strict-json.js';
import { takes } from './operation.js';
import { validated } from './validation.js';

const JSON_TYPE = 'application/json';
/** RFC 7396 §4. A JSON Merge Patch may also be sent as JSON. */
export const MERGE_PATCH = [JSON_TYPE, 'application/merge-patch+json'] as const;

/**
 * Injects the body as an instance of its class, with only the exposed properties, or refuses it with the first broken
 * rule. The guards run before the body is read.
 */
export function JsonBody<Body extends object>(
  type: Type<Body>,
  mediaTypes: readonly string[] = [JSON_TYPE],
): ParameterDecorator {
  const read = createParamDecorator(async (_data: unknown, context: ExecutionContext): Promise<Body> => {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    return validated(type, objectFrom(await bodyOf(request)));
  });
  return takes({ body: { type, mediaTypes } }, read());
}

/** Refuses a request whose body isn't declared as one that the operation takes. */
export function requireMediaType(mediaTypes: readonly string[], { headers }: IncomingMessage): void {
  if (!isOneOf(mediaTypes, headers['content-type'] ?? '')) {
    const allowed = mediaTypes.join(' or ');
    throw new HttpRefusal('unsupported_media_type', `the Content-Type header must be ${allowed}, in UTF-8`);
  }
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw new HttpRefusal('unsupported_media_type', 'the body must be sent without a Content-Encoding');
  }
}

function objectFrom(bytes: Buffer): JsonObject {
  const value = parseJson(bytes);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new HttpRefusal('invalid_json', 'the body must be a JSON object');
  }
  return value;
}

// RFC 9110 §8.3.1. RFC 8259 §8.1 requires UTF-8, so another charset is refused.
const CHARSET = /;\s*charset\s*=\s*("?)([^\s;"]*)\1\s*(?=;|$)/gi;

function isOneOf(mediaTypes: readonly string[], contentType: string): boolean {
  const [mediaType = ''] = contentType.split(';', 1);
  const charsets = [...contentType.matchAll(CHARSET)].map(([, , charset]) => charset?.toLowerCase());
  const isTaken = mediaTypes.includes(mediaType.trimEnd().toLowerCase());
  return isTaken && charsets.every((charset) => charset === 'utf-8');
}

/** The body's bytes. */
export async function bodyOf({ received }: FastifyRequest): Promise<Buffer> {
  return received === undefined ? Buffer.alloc(0) : received.whole;
}
