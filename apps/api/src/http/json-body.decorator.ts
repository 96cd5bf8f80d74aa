import type { IncomingMessage } from 'node:http';
import { createParamDecorator, type ExecutionContext, type Type } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { ApiRequest } from './api-request.js';
import { HttpRefusal } from './error-codes.js';
import { type JsonObject, parseJson } from './strict-json.js';
import { validBody } from './validation.js';

/**
 * The body as its class, of which only the properties that have rules are ever looked at; or refused with the first rule
 * that is broken. Fastify leaves bodies alone (see create-api.ts), so nothing of one is looked at before the guards have
 * let the request in.
 */
export function JsonBody<Body extends object>(type: Type<Body>): ParameterDecorator {
  // Not by a pipe, for which Nest would make promises.
  return createParamDecorator(async (_data: unknown, context: ExecutionContext): Promise<Body> => {
    const request = context.getArgByIndex<FastifyRequest>(0);
    requireJson(request.raw);
    return validBody(type, objectFrom(await bodyOf(request)));
  })();
}

function objectFrom(bytes: Buffer): JsonObject {
  const value = parseJson(bytes);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new HttpRefusal('invalid_json', 'the body must be a JSON object');
  }
  return value;
}

// RFC 9110 §8.3.1; whatever else the header says, the charset must be UTF-8, as RFC 8259 §8.1 has it.
const JSON_MEDIA_TYPE = /^application\/json\s*(?:;|$)/i;
const CHARSET = /;\s*charset\s*=\s*("?)([^\s;"]*)\1\s*(?=;|$)/gi;

/** What has been said last of a body that was JSON: nearly all say the same. */
let lastJson: string | undefined;

function isJson(contentType: string): boolean {
  const charsets = [...contentType.matchAll(CHARSET)].map(([, , charset]) => charset?.toLowerCase());
  return JSON_MEDIA_TYPE.test(contentType) && charsets.every((charset) => charset === 'utf-8');
}

function requireJson({ headers }: IncomingMessage): void {
  const { 'content-type': contentType = '' } = headers;
  if (contentType !== lastJson && isJson(contentType)) lastJson = contentType;
  if (contentType !== lastJson) {
    throw new HttpRefusal('unsupported_media_type', 'the Content-Type header must be application/json, in UTF-8');
  }
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw new HttpRefusal('unsupported_media_type', 'the body must be sent without a Content-Encoding');
  }
}

/** The body's bytes. */
export function bodyOf({ raw }: FastifyRequest): Buffer | Promise<Buffer> {
  return (raw as ApiRequest).body();
}
