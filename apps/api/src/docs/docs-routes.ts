import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { CSS, fixedFile, type FixedFile, HTML, SCRIPT, sendFixedFile } from '@adoption-store/web';
import type { FastifyInstance } from 'fastify';
import { JSON_TYPE } from '../errors/error-codes.js';
import { servePublicly } from '../routing/public-route.js';

// The page loads nothing from other hosts and sends nothing to them, because users paste their key into it.
const SECURITY = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
} as const;

/** The OpenAPI description and its page. Each file is read at the first request. */
export function serveDocs(fastify: FastifyInstance): void {
  const serve = (path: string, type: string, read: () => Promise<string | Buffer>) => {
    let file: FixedFile | undefined;
    servePublicly(fastify, path, async (request, reply) => {
      file ??= fixedFile(type, await read());
      // Clients may store the page, but revalidate it at each use, so that a new release appears at once.
      reply.headers({ ...SECURITY, 'cache-control': 'public, no-cache' });
      return sendFixedFile(request, reply, file);
    });
  };
  serve('/openapi.json', JSON_TYPE, async () => (await import('../openapi/description.js')).descriptionText());
  serve('/docs', HTML, ours('index.html'));
  serve('/docs/page.css', CSS, ours('page.css'));
  serve('/docs/page.js', SCRIPT, ours('page.js'));
  serve('/docs/swagger-ui.css', CSS, swaggerUi('swagger-ui.css'));
  serve('/docs/swagger-ui-bundle.js', SCRIPT, swaggerUi('swagger-ui-bundle.js'));
}

function ours(file: string): () => Promise<Buffer> {
  return () => readFile(fileURLToPath(new URL(`./page/${file}`, import.meta.url)));
}

function swaggerUi(file: string): () => Promise<Buffer> {
  return () => readFile(createRequire(import.meta.url).resolve(`swagger-ui-dist/${file}`));
}
