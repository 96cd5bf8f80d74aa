import { HTML } from '@adoption-store/web';
import type { HttpFault, SocketAnswer, SocketResponder } from '@adoption-store/web/edge';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { plainError } from './error.filter.js';

type Headers = SocketAnswer['headers'];

/** Headers that are not the same for every response. */
const VARYING = new Set(['connection', 'content-length', 'content-type', 'date']);

/** The page about a request that reaches no hook, with the headers of every other page. */
export class SocketPages implements SocketResponder {
  private common: Promise<Headers> | undefined;

  /** @param observe called with the status of each page. */
  constructor(
    private readonly portal: () => FastifyInstance,
    private readonly observe: (status: number) => void,
  ) {}

  async answer({ statusCode: status, headers: own }: HttpFault): Promise<SocketAnswer> {
    const portal = this.portal();
    const common = await (this.common ??= commonHeaders(portal));
    this.observe(status);
    const frame = { here: '/', csrf: '', hasProblems: false };
    const body = portal.renderPage('error', { ...frame, ...plainError(status) });
    return { status, headers: { ...common, ...own, 'content-type': HTML }, body };
  }

  breakOff(request: FastifyRequest, fault: HttpFault): void {
    request.bodyFault = fault;
    // Fastify listens while it reads the body.
    if (request.raw.listenerCount('error') > 0) request.raw.emit('error', fault);
  }
}

/** Plugins set these in hooks, so a response of the portal itself shows them. */
async function commonHeaders(portal: FastifyInstance): Promise<Headers> {
  const { headers } = await portal.inject('/livez');
  return Object.fromEntries(
    Object.entries(headers)
      .filter(([name]) => !VARYING.has(name))
      .map(([name, value]) => [name, String(value)]),
  );
}
