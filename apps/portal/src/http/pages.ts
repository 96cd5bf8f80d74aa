import { fileURLToPath } from 'node:url';
import type { Clock } from '@adoption-store/domain';
import { Eta } from 'eta';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { viewHelpers } from '../view-helpers.js';
import type { Form, Frame, Views } from './views.js';
import { giveNotice, type Notice, takeNotice } from './notices.js';
import { pageOf } from './paths.js';

/** What a controller answers with: a page, or a redirect. */
export type Answer = (reply: FastifyReply) => FastifyReply;

type FixedFrame = Pick<Frame, 'api' | 'canReset' | 'contact' | 'files'>;

declare module 'fastify' {
  interface FastifyInstance {
    /** Renders a template to HTML. */
    readonly renderPage: (name: string, properties: object) => string;
  }
}

const REFUSED = 422;
const POLICY = 'content-security-policy';

/** Reads the templates. `fixed` is in the frame of every page. */
export function readTemplates(fastify: FastifyInstance, clock: Clock, fixed: FixedFrame): void {
  const eta = new Eta({ views: fileURLToPath(new URL('../../views', import.meta.url)), cache: true });
  fastify.decorate('renderPage', (name: string, properties: object) =>
    eta.render(name, { ...fixed, now: clock.now(), ...properties, helpers: viewHelpers }),
  );
}

/** A page. Its status is 422 if it shows a refused form again, and else 200, unless another is given. */
export function page<Name extends keyof Views>(name: Name, view: Views[Name], status?: number): Answer {
  return (reply) => {
    const { request, server } = reply;
    const parts: readonly unknown[] = [view, ...Object.values(view as Readonly<Record<string, unknown>>)];
    const hasProblems = parts.some(
      (part) => Object.keys((part as Partial<Form> | undefined)?.problems ?? {}).length > 0,
    );
    const frame: Omit<Frame, keyof FixedFrame | 'now'> = {
      account: request.account,
      here: pageOf(request),
      session: request.sessionTimes,
      csrf: reply.newFormToken(),
      notice: takeNotice(reply),
      hasProblems,
    };
    // Only the scripts for the end of the session and the end of a fault send requests, to the portal itself.
    if (request.sessionTimes !== undefined || status === 503) {
      reply.header(POLICY, `${String(reply.getHeader(POLICY))};connect-src 'self'`);
    }
    const html = server.renderPage(name, { ...frame, ...view });
    return reply
      .code(status ?? (hasProblems ? REFUSED : 200))
      .type('text/html; charset=utf-8')
      .send(html);
  };
}

/** RFC 9110 §15.4.4: after a redirect, a reload doesn't send the form again. */
export function redirect(path: string, notice?: Notice): Answer {
  return (reply) => {
    if (notice !== undefined) giveNotice(reply, notice);
    return reply.redirect(path, 303);
  };
}
