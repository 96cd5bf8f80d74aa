import { hash } from 'node:crypto';
import { isKnown } from '@adoption-store/web';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { HttpRefusal } from './error-codes.js';
import { takes } from './operation.js';

/** The tags of pages, so that requests that share a page also share its tag. */
const tagOfPage = new WeakMap<Buffer, string>();

export function sha256(text: string): string {
  return hash('sha256', text);
}

/** A strong entity tag (RFC 9110 §8.8.3) of a version. */
export function entityTag(version: string): string {
  return `"${version}"`;
}

/**
 * Adds an `ETag` to every 200 of a GET, unless its handler has set one: the hash of the body. If the client already has
 * that version (`If-None-Match`, RFC 9110 §13.1.2), the response is 304 without a body.
 */
export function answerConditionally(fastify: FastifyInstance): void {
  fastify.addHook('onSend', (request, reply, payload: unknown, done) => {
    const { operation } = request.routeOptions.config;
    const isTagged = operation?.method === 'GET' && operation.hasEntityTag !== false;
    if (!isTagged || reply.statusCode !== 200) {
      done(null, payload);
      return;
    }
    if (!reply.hasHeader('etag')) reply.header('etag', tagOf(payload as string | Buffer));
    if (!isKnown(request, reply)) {
      done(null, payload);
      return;
    }
    // Content-Type stays: removing a header takes longer than sending it, and would make a 304 no faster than a 200.
    reply.code(304);
    // Fastify drops the body of a HEAD response itself, and needs it for the Content-Length.
    done(null, request.method === 'HEAD' ? payload : null);
  });
}

/**
 * Adds the tag of a page. It also depends on whether there is a next page: otherwise a client with the old response
 * would not notice a new page.
 */
export function tagPage(reply: FastifyReply, body: string | Buffer, next: bigint | undefined): void {
  reply.header('etag', tagOf(body, next));
}

/**
 * Injects the versions in `If-Match`. The resource must be in one of them (RFC 9110 §13.1.1). Undefined if any version is
 * allowed.
 */
export function IfMatch(): ParameterDecorator {
  return takes({ hasIfMatch: true }, versionsOf());
}

const versionsOf = createParamDecorator((_data: unknown, context: ExecutionContext) =>
  wantedVersions(context.switchToHttp().getRequest<FastifyRequest>().headers['if-match']),
);

/**
 * Whether a PUT must not replace anything: `If-None-Match: *` (RFC 9110 §13.1.2).
 *
 * @throws HttpRefusal for entity tags, and for If-Match in the same request: neither makes sense with a PUT.
 */
export function isOnlyIfNone({ headers }: FastifyRequest): boolean {
  const header = headers['if-none-match'];
  if (header === undefined) return false;
  if (header.trim() !== '*' || headers['if-match'] !== undefined) {
    throw new HttpRefusal('invalid_parameter', 'If-None-Match must be *, and sent without If-Match');
  }
  return true;
}

const TAG = /(W\/)?"([\x21\x23-\x7e\x80-\xff]*)"/g;

function wantedVersions(header: string | undefined): readonly string[] | undefined {
  if (header === undefined || header.trim() === '*') return undefined;
  const tags = [...header.matchAll(TAG)];
  if (tags.length === 0 || !/^[\s,]*$/.test(header.replace(TAG, ''))) {
    throw new HttpRefusal('invalid_parameter', 'If-Match must be * or entity tags in double quotes, as ETag has them');
  }
  // The comparison is strong, so a weak tag never matches.
  return tags.flatMap(([, weak, version]) => (weak === undefined && version !== undefined ? [version] : []));
}

function tagOf(body: string | Buffer, next?: bigint): string {
  if (typeof body === 'string') return entityTag(sha256(body + String(next ?? '')));
  const tag = tagOfPage.get(body) ?? tagOf(body.toString(), next);
  tagOfPage.set(body, tag);
  return tag;
}
