import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';

export const HTML = 'text/html; charset=utf-8';
export const CSS = 'text/css; charset=utf-8';
export const SCRIPT = 'text/javascript; charset=utf-8';

/** A file that is the same for every client until the next release. */
export interface FixedFile {
  readonly type: string;
  readonly body: Buffer;
  readonly hash: string;
}

export function fixedFile(type: string, content: string | Buffer): FixedFile {
  const body = Buffer.from(content);
  return { type, body, hash: createHash('sha256').update(body).digest('base64url').slice(0, 22) };
}

export function sendFixedFile(request: FastifyRequest, reply: FastifyReply, file: FixedFile): FastifyReply {
  const etag = `"${file.hash}"`;
  reply.header('etag', etag);
  if (isKnown(request.headers['if-none-match'], etag)) return reply.code(304).send();
  return reply.type(file.type).send(file.body);
}

/** `If-None-Match`: RFC 9110 §13.1.2. */
function isKnown(ifNoneMatch: string | undefined, etag: string): boolean {
  const known = ifNoneMatch?.split(',').map((each) => each.trim().replace(/^W\//, '')) ?? [];
  return known.includes(etag) || known.includes('*');
}
