import { fileURLToPath } from 'node:url';
import type { Clock } from '@adoption-store/domain';
import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import { Eta } from 'eta';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { map, type Observable } from 'rxjs';
import { Form } from './forms.js';
import { giveNotice, type Notice, takeNotice } from './notices.js';
import { pageOf } from './paths.js';
import type { Frame, Views } from './views.js';

/** What a controller answers with: sets status and headers, and returns the body. */
export type Answer = (reply: FastifyReply) => unknown;

type FixedFrame = Pick<Frame, 'api' | 'portalUrl' | 'packedClient' | 'contact' | 'files' | 'helpers'>;

declare module 'fastify' {
  interface FastifyInstance {
    readonly renderPage: (name: string, properties: object) => string;
  }
}

const REFUSED = 422;
const POLICY = 'content-security-policy';

/** Reads the templates. `fixed` is in the frame of every page. */
export function readTemplates(fastify: FastifyInstance, clock: Clock, fixed: FixedFrame): void {
  const eta = new Eta({ views: fileURLToPath(new URL('../../views', import.meta.url)), cache: true });
  fastify.decorate('renderPage', (name: string, properties: object) =>
    eta.render(name, { ...fixed, now: clock.now(), ...properties }),
  );
}

/** A page. Its status is 422 if it shows a refused form again, and else 200, unless another is given. */
export function page<Name extends keyof Views>(name: Name, view: Views[Name], status?: number): Answer {
  return (reply) => {
    const { request, server } = reply;
    const hasProblems = Object.values(view).some(
      (part: unknown) => part instanceof Form && Object.keys(part.problems).length > 0,
    );
    const frame: Omit<Frame, keyof FixedFrame | 'now'> = {
      account: request.person?.account,
      here: pageOf(request),
      origin: `${request.protocol}://${request.host}`,
      session: request.person,
      csrf: reply.newFormToken(),
      notice: takeNotice(reply),
      hasProblems,
    };
    // Two scripts send requests, to the portal only: before the session ends, and to reload a page after a 503.
    if (request.person !== undefined || status === 503)
      reply.header(POLICY, `${String(reply.getHeader(POLICY))};connect-src 'self'`);
    reply.code(status ?? (hasProblems ? REFUSED : 200)).type('text/html; charset=utf-8');
    return server.renderPage(name, { ...frame, ...view });
  };
}

/** RFC 9110 §15.4.4: after a redirect, a reload doesn't send the form again. */
export function redirect(path: string, notice?: Notice): Answer {
  return (reply) => {
    if (notice !== undefined) giveNotice(reply, notice);
    reply.code(303).header('location', path);
  };
}

@Injectable()
export class AnswerInterceptor implements NestInterceptor<Answer> {
  intercept(context: ExecutionContext, next: CallHandler<Answer>): Observable<unknown> {
    return next.handle().pipe(map((answer) => answer(context.switchToHttp().getResponse<FastifyReply>())));
  }
}
