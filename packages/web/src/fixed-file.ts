import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { negotiate } from '@fastify/accept-negotiator';
import type { FastifyReply, FastifyRequest } from 'fastify';

export const HTML = 'text/html; charset=utf-8';
export const CSS = 'text/css; charset=utf-8';
export const SCRIPT = 'text/javascript; charset=utf-8';

const QUALITY = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };
const ENCODERS = {
  br: (body: Buffer) => promisify(brotliCompress)(body, QUALITY),
  gzip: (body: Buffer) => promisify(gzip)(body, { level: 9 }),
  identity: (body: Buffer) => Promise.resolve(body),
};
type Encoding = keyof typeof ENCODERS;

/** The encodings in the order of preference. */
const ENCODINGS: Encoding[] = ['br', 'gzip', 'identity'];
/** Files of fewer bytes are not compressed. */
const WORTHWHILE = 1_024;

/** A file that stays the same until the next release, for every client. */
export interface FixedFile {
  readonly type: string;
  readonly hash: string;
  /** The content in this encoding, computed at the first request for it. */
  readonly encoded: (encoding: Encoding) => Promise<Buffer>;
  readonly isCompressible: boolean;
}

export function fixedFile(type: string, content: string | Buffer): FixedFile {
  const body = Buffer.from(content);
  const known: Partial<Record<Encoding, Promise<Buffer>>> = {};
  return {
    type,
    hash: createHash('sha256').update(body).digest('base64url').slice(0, 22),
    encoded: (encoding) => (known[encoding] ??= ENCODERS[encoding](body)),
    isCompressible: body.length >= WORTHWHILE,
  };
}

/** Sends the file in the best encoding that the client accepts. */
export async function sendFixedFile(
  request: FastifyRequest,
  reply: FastifyReply,
  file: FixedFile,
): Promise<FastifyReply> {
  const encoding = file.isCompressible ? encodingFor(request) : 'identity';
  // Each encoding is a representation of its own, with its own strong tag (RFC 9110 §8.8.3.3).
  const etag = encoding === 'identity' ? `"${file.hash}"` : `"${file.hash}-${encoding}"`;
  reply.headers({ etag, vary: 'Accept-Encoding' });
  if (isKnown(request, reply)) return reply.code(304).send();
  if (encoding !== 'identity') reply.header('content-encoding', encoding);
  return reply.type(file.type).send(await file.encoded(encoding));
}

function encodingFor({ headers }: FastifyRequest): Encoding {
  // RFC 9110 §12.5.3: without the header any encoding will do, but simple clients can't decode one.
  return negotiate([headers['accept-encoding'] ?? 'identity'].flat().join(), ENCODINGS) ?? 'identity';
}

/**
 * Whether the client has the representation already (`If-None-Match`, RFC 9110 §13.1.2). A tag has no quotes inside, so
 * it is found only as a whole. The comparison is weak.
 */
function isKnown(request: FastifyRequest, reply: FastifyReply): boolean {
  const header = request.headers['if-none-match'];
  return header !== undefined && (header.includes(reply.getHeader('etag') as string) || header.trim() === '*');
}
