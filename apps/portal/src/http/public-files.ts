import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { CSS, type FixedFile, fixedFile, SCRIPT, sendFixedFile } from '@adoption-store/web';
import type { FastifyInstance } from 'fastify';

const TYPES: Readonly<Record<string, string>> = { '.css': CSS, '.js': SCRIPT, '.svg': 'image/svg+xml' };
const FOREVER = 'public, max-age=31536000, immutable';

export interface PublicFile extends FixedFile {
  readonly name: string;
  /** Changes whenever the content changes. */
  readonly address: string;
}

export function readPublicFiles(folder: string): readonly PublicFile[] {
  return readdirSync(folder).flatMap((name) => {
    const type = TYPES[extname(name)];
    if (type === undefined) return [];
    const file = fixedFile(type, readFileSync(join(folder, name)));
    return [{ ...file, name, address: `/public/${name}?${file.hash}` }];
  });
}

export function servePublicFiles(fastify: FastifyInstance, files: readonly PublicFile[]): void {
  for (const file of files) {
    fastify.get(`/public/${file.name}`, (request, reply) => {
      reply.header('cache-control', request.url === file.address ? FOREVER : 'no-cache');
      return sendFixedFile(request, reply, file);
    });
  }
}
