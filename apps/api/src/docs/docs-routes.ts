import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { servePublicly } from '../http/public-route.js';

const HTML = 'text/html; charset=utf-8';
const CSS = 'text/css; charset=utf-8';
const SCRIPT = 'text/javascript; charset=utf-8';
const JSON_TYPE = 'application/json; charset=utf-8';

// Nothing of the page comes from elsewhere, and nothing of it goes elsewhere: a key is pasted into it.
const SECURITY = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
} as const;

interface Page {
  readonly body: Buffer;
  readonly etag: string;
}

/** The interface description, and the page that shows it. Each is read when it is first asked for. */
export function serveDocs(fastify: FastifyInstance): void {
  const serve = (path: string, type: string, read: () => Promise<string | Buffer>) => {
    let page: Promise<Page> | undefined;
    servePublicly(fastify, path, (request, reply) => {
      page ??= read()
        .then(pageOf)
        .catch((error: unknown) => {
          // The next one to ask may be luckier.
          page = undefined;
          throw error;
        });
      return send(request, reply, type, page);
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

function pageOf(content: string | Buffer): Page {
  const body = Buffer.from(content);
  return { body, etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"` };
}

async function send(
  request: FastifyRequest,
  reply: FastifyReply,
  type: string,
  page: Promise<Page>,
): Promise<FastifyReply> {
  const { body, etag } = await page;
  // It may be kept, and is asked for again before it is used: a new release is seen at once.
  reply.headers({ ...SECURITY, etag, 'cache-control': 'public, no-cache' });
  if (isKnown(request.headers['if-none-match'], etag)) {
    return reply.code(304).removeHeader('content-type').send();
  }
  return reply.type(type).send(body);
}

/** RFC 9110 §13.1.2. */
function isKnown(ifNoneMatch: string | undefined, etag: string): boolean {
  const known = ifNoneMatch?.split(',').map((each) => each.trim().replace(/^W\//, '')) ?? [];
  return known.includes(etag) || known.includes('*');
}
