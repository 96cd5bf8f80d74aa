import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { CSS, type FixedFile, fixedFile, readBaseStyle, SCRIPT, sendFixedFile } from '@adoption-store/web';
import type { FastifyInstance } from 'fastify';

const TYPES: Readonly<Record<string, string>> = { '.css': CSS, '.js': SCRIPT, '.svg': 'image/svg+xml' };
const ICON = 'icon.svg';
const GZIP = 'application/gzip';
const CLIENT = 'adoption-store-client-';
const FOREVER = 'public, max-age=31536000, immutable';

export interface PublicFile extends FixedFile {
  readonly name: string;
  /** Changes whenever the content changes. */
  readonly address: string;
}

/** The files of the folder, and the style sheet that the reference page has, too. */
export function readPublicFiles(folder: string): readonly PublicFile[] {
  const own = readdirSync(folder).flatMap((name) => {
    const type = TYPES[extname(name)];
    return type === undefined ? [] : [publicFile(name, type, readFileSync(join(folder, name)))];
  });
  return [publicFile('base.css', CSS, readBaseStyle()), ...own];
}

/** The typed client as the build has packed it into the folder. A portal that runs from its sources may have none. */
export function readPackedClient(folder: string): PublicFile | undefined {
  const names = existsSync(folder) ? readdirSync(folder) : [];
  const name = names.find((each) => each.startsWith(CLIENT));
  if (name === undefined) return undefined;
  // Some browsers would store the bytes of another encoding.
  return { ...publicFile(name, GZIP, readFileSync(join(folder, name))), isCompressible: false };
}

/** Another version is answered with the name of the current one: who downloads a file doesn't want a page. */
export function servePackedClient(fastify: FastifyInstance, client: PublicFile): void {
  servePublicFiles(fastify, [client]);
  fastify.get(`/public/${CLIENT}:version`, (_request, reply) =>
    reply.code(404).type('text/plain; charset=utf-8').send(`The current version is /public/${client.name}\n`),
  );
}

function publicFile(name: string, type: string, content: Buffer): PublicFile {
  const file = fixedFile(type, content);
  return { ...file, name, address: `/public/${name}?${file.hash}` };
}

export function servePublicFiles(fastify: FastifyInstance, files: readonly PublicFile[]): void {
  for (const file of files) {
    // Browsers and feed readers ask for it by this name.
    if (file.name === ICON) fastify.get('/favicon.ico', (request, reply) => sendFixedFile(request, reply, file));
    fastify.get(`/public/${file.name}`, (request, reply) => {
      reply.header('cache-control', request.url === file.address ? FOREVER : 'no-cache');
      return sendFixedFile(request, reply, file);
    });
  }
}
