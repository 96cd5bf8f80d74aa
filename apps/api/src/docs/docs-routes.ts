import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { CSS, fixedFile, type FixedFile, HTML, readBaseStyle, SCRIPT, sendFixedFile } from '@adoption-store/web';
import type { FastifyInstance } from 'fastify';
import { JSON_TYPE } from '../http/answers/error-codes.js';
import type { DefinedOperation } from '../http/operations/operation.js';
import { servePublicly } from '../http/edge/public-route.js';

// The page loads nothing from other hosts and sends nothing to them, because users paste their key into it.
const SECURITY = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
} as const;

const SCRIPTS = ['page.js', 'copy.js', 'description.js', 'key.js', 'navigation.js', 'plugins.js'];
const ICON = 'image/x-icon';
const TEXT = 'text/plain; charset=utf-8';

interface Docs {
  readonly operations: readonly DefinedOperation[];
  readonly publicUrl: string | undefined;
  readonly portalUrl: string | undefined;
}

/** The OpenAPI description and its pages, to which `/` leads. Each file is read at the first request. */
export function serveDocs(fastify: FastifyInstance, { operations, publicUrl, portalUrl }: Docs): void {
  // Without PUBLIC_URL an address is relative. The Host header isn't used: a cache would give one caller's address to others.
  const origin = publicUrl ?? '';
  const server = `${origin}/v1`;
  const serve = (path: string, type: string, read: () => string | Buffer | Promise<string | Buffer>) => {
    let file: FixedFile | undefined;
    servePublicly(fastify, path, async (request, reply) => {
      file ??= fixedFile(type, await read());
      // Clients may store the page, but revalidate it at each use, so that a new release appears at once.
      reply.headers({ ...SECURITY, 'cache-control': 'public, no-cache' });
      return sendFixedFile(request, reply, file);
    });
  };
  serve('/openapi.json', JSON_TYPE, async () => {
    const { descriptionText } = await import('../openapi/description.js');
    return descriptionText(operations, server);
  });
  serve('/llms.txt', TEXT, async () => {
    const { llmsText } = await import('../openapi/description.js');
    return llmsText(operations, server);
  });
  servePublicly(fastify, '/', async (_request, reply) => reply.redirect(`${origin}/docs`, 303));
  serve('/favicon.ico', ICON, ours('favicon.ico'));
  serve('/docs', HTML, async () => {
    const { referencePage } = await import('./reference-page.js');
    return referencePage({ operations, server: publicUrl && server, portalUrl });
  });
  serve('/docs/base.css', CSS, readBaseStyle);
  serve('/docs/page.css', CSS, ours('page.css'));
  serve('/docs/operations.css', CSS, ours('operations.css'));
  for (const file of SCRIPTS) serve(`/docs/${file}`, SCRIPT, ours(file));
  serve('/docs/swagger-ui.css', CSS, swaggerUi('swagger-ui.css'));
  serve('/docs/swagger-ui-bundle.js', SCRIPT, swaggerUi('swagger-ui-bundle.js'));
}

function ours(file: string): () => Promise<Buffer> {
  return () => readFile(fileURLToPath(new URL(`./page/${file}`, import.meta.url)));
}

function swaggerUi(file: string): () => Promise<Buffer> {
  return () => readFile(createRequire(import.meta.url).resolve(`swagger-ui-dist/${file}`));
}
