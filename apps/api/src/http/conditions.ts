import { hash } from 'node:crypto';
import { isKnown } from '@adoption-store/web';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { HttpRefusal } from './error-codes.js';
import { takes } from './operation.js';

export function sha256(text: string): string {
  return hash('sha256', text);
}

/** Whether the client has this representation already, so that the response is 304 (RFC 9110 §13.1.2). */
export function isUnchanged(request: FastifyRequest, reply: FastifyReply): boolean {
  // Most requests have no condition.
  return request.headers['if-none-match'] !== undefined && isKnown(request, reply);
}

/** A strong entity tag (RFC 9110 §8.8.3) of a version. */
export function entityTag(version: string): string {
  return `"${version}"`;
}

/**
 * Injects the versions that `If-Match` names, of which the resource must have one (RFC 9110 §13.1.1). Undefined if any
 * will do.
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
