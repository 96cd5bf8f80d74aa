import type { FastifyReply, FastifyRequest } from 'fastify';
import { viewHelpers } from '../view-helpers.js';
import type { Frame, Views } from '../views.js';
import { takeNotice } from './notices.js';

/** The status of a refused form that is shown again. */
export const REFUSED = 422;

/** Renders the templates. */
export class Pages {
  constructor(private readonly frame: Pick<Frame, 'api' | 'canReset' | 'files'>) {}

  async show<Name extends keyof Views>(
    request: FastifyRequest,
    reply: FastifyReply,
    name: Name,
    view: Views[Name],
    status = 200,
  ): Promise<void> {
    const frame: Frame = {
      ...this.frame,
      account: request.account,
      csrf: reply.newFormToken(),
      notice: takeNotice(request, reply),
    };
    const html = await reply.viewAsync(name, { ...frame, ...view, helpers: viewHelpers });
    await reply.code(status).type('text/html; charset=utf-8').send(html);
  }
}
