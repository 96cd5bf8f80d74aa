import { hash } from 'node:crypto';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { HttpRefusal } from '../errors/error-codes.js';

/** The only GET operation without an entity tag: its response differs at each request. */
const UNTAGGED = '/v1/rate_limit';

/** Requests that share a page also share its tag. */
const tagOfPage = new WeakMap<Buffer, string>();

export function sha256(text: string | Buffer): string {
  return hash('sha256', text);
}

/** A strong entity tag (RFC 9110 §8.8.3) of a version. */
export function entityTag(version: string): string {
  return `"${version}"`;
}

/**
 * Adds an `ETag` to every 200 of a GET: that of its handler, or one of the body. If the request has it already
 * (`If-None-Match`, RFC 9110 §13.1.2), the response is 304 without a body.
 */
export function answerConditionally(fastify: FastifyInstance): void {
  fastify.addHook('onSend', (request, reply, payload: unknown, done) => {
    const { url = '' } = request.routeOptions;
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    if (!isRead || reply.statusCode !== 200 || !url.startsWith('/v1/') || url === UNTAGGED) {
      done(null, payload);
      return;
    }
    let tag = reply.getHeader('etag') as string | undefined;
    if (tag === undefined) {
      tag = tagOf(payload as string | Buffer);
      reply.header('etag', tag);
    }
    if (!isKnown(request.headers['if-none-match'], tag)) {
      done(null, payload);
      return;
    }
    reply.code(304).removeHeader('content-type');
    // Fastify drops the body of a HEAD response itself, and needs it for the Content-Length.
    done(null, request.method === 'HEAD' ? payload : null);
  });
}

/**
 * Injects the versions that `If-Match` names, of which the resource must have one (RFC 9110 §13.1.1). Undefined if any
 * will do.
 */
export const IfMatch = createParamDecorator((_data: unknown, context: ExecutionContext) =>
  wantedVersions(context.switchToHttp().getRequest<FastifyRequest>().headers['if-match']),
);

const TAG = /(W\/)?"([\x21\x23-\x7e\x80-\xff]*)"/g;

export function wantedVersions(header: string | undefined): readonly string[] | undefined {
  if (header === undefined || header.trim() === '*') return undefined;
  const tags = [...header.matchAll(TAG)];
  if (tags.length === 0 || !/^[\s,]*$/.test(header.replace(TAG, ''))) {
    throw new HttpRefusal('invalid_parameter', 'If-Match must be * or entity tags in double quotes, as ETag has them');
  }
  // The comparison is strong, so a weak tag never matches.
  return tags.flatMap(([, weak, version]) => (weak === undefined && version !== undefined ? [version] : []));
}

function tagOf(body: string | Buffer): string {
  if (typeof body === 'string') return entityTag(sha256(body));
  const tag = tagOfPage.get(body) ?? entityTag(sha256(body));
  tagOfPage.set(body, tag);
  return tag;
}

/** A tag has no quotes inside, so it is found only as a whole. The comparison is weak. */
function isKnown(header: string | undefined, tag: string): boolean {
  return header !== undefined && (header.includes(tag) || header.trim() === '*');
}
