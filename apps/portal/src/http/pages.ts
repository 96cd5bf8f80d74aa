import type { FastifyReply } from 'fastify';
import { viewHelpers } from '../view-helpers.js';
import type { Frame, Views } from '../views.js';
import { takeNotice } from './notices.js';
import { pageOf } from './paths.js';

/** The status of a refused form that is shown again. */
export const REFUSED = 422;

const POLICY = 'content-security-policy';

/** Renders the templates. */
export class Pages {
  constructor(private readonly frame: Pick<Frame, 'api' | 'canReset' | 'contact' | 'files'>) {}

  async show<Name extends keyof Views>(
    reply: FastifyReply,
    name: Name,
    view: Views[Name],
    status = 200,
  ): Promise<void> {
    const { request } = reply;
    const frame: Frame = {
      ...this.frame,
      account: request.account,
      here: pageOf(request),
      session: request.sessionTimes,
      csrf: reply.newFormToken(),
      notice: takeNotice(reply),
    };
    // Only the scripts for the end of the session and the end of a fault send requests, to the portal itself.
    if (request.sessionTimes !== undefined || status === 503) {
      reply.header(POLICY, `${String(reply.getHeader(POLICY))};connect-src 'self'`);
    }
    const html = await reply.viewAsync(name, { ...frame, ...view, helpers: viewHelpers });
    await reply.code(status).type('text/html; charset=utf-8').send(html);
  }
}
