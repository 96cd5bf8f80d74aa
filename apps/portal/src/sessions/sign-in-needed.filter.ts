import { SignedOut } from '@adoption-store/domain';
import { type ArgumentsHost, Catch, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { WHY_SIGNED_OUT } from '../http/notices.js';
import { page, redirect } from '../http/pages.js';
import { pageOf, wantPage } from '../http/paths.js';
import { SignInNeeded } from '../http/refusals.js';
import { SignInForm } from './sign-in.controller.js';

/** Shows the sign-in page. Signing in leads back to the requested page. */
@Catch(SignInNeeded, SignedOut)
export class SignInNeededFilter implements ExceptionFilter {
  catch(error: SignInNeeded | SignedOut, host: ArgumentsHost): void {
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    // The session may have ended while the request was under way.
    if (error instanceof SignedOut) {
      reply.request.person = undefined;
      reply.request.hasEndedSession = true;
    }
    const { method, url, hasEndedSession } = reply.request;
    const isForm = method === 'POST';
    wantPage(reply, isForm ? pageOf(reply.request) : url);
    const signedOut = hasEndedSession ? WHY_SIGNED_OUT : 'Your session has ended.';
    const answer = isForm
      ? page('sign-in', { form: new SignInForm(), signedOut }, 403)
      : redirect('/sign-in', hasEndedSession ? 'session-ended' : undefined);
    void reply.send(answer(reply));
  }
}
