import { DomainError, type DomainErrorKind, InsufficientScope } from '@adoption-store/domain';
import { TooManyAtOnce } from '@adoption-store/infrastructure/turns';
import { stackOf } from '@adoption-store/web';
import { HttpFault } from '@adoption-store/web/edge';
import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { page } from './pages.js';
import { pageOf } from './paths.js';
import { InvalidFormToken, TooManyAttempts } from './refusals.js';
import type { Views } from './views.js';

const EXPLANATIONS: Readonly<Record<number, readonly [title: string, message: string]>> = {
  400: ['That did not work', 'The request could not be understood.'],
  403: [
    'This form has expired',
    'It was open for too long, or you signed in or out in the meantime. Nothing was saved. Open its page again, and send it from there.',
  ],
  404: ['Not found', 'There is no such page, or it is not yours.'],
  405: ['That did not work', 'This page cannot be used in this way.'],
  408: ['Too slow', 'The request did not arrive in time.'],
  413: ['Form too large', 'The form is too large.'],
  414: ['Address too long', 'The address of the page is too long.'],
  415: ['That did not work', 'This page accepts only forms.'],
  429: ['Too many at once', 'Many pages or forms of your account are under way.'],
  431: ['Too much was sent', 'Your browser sent too much. Delete the cookies of this site, and try again.'],
  500: ['Something went wrong', 'This is an error on our side, and it has been logged. Try again later.'],
  503: ['Temporarily unavailable', 'The service cannot be reached at the moment.'],
};
const STATUS_OF_KIND: Readonly<Record<DomainErrorKind, number>> = {
  invalid: 400,
  unauthenticated: 403,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  gone: 410,
  precondition: 412,
  unavailable: 503,
};
const RETRY_AFTER_SECONDS = 5;
const SECONDS_AFTER_TOO_MANY = 1;

@Catch()
export class ErrorFilter implements ExceptionFilter {
  catch(error: unknown, host: ArgumentsHost): void {
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    const { request } = reply;
    if (reply.sent || reply.raw.headersSent) return;
    const status = statusOf(error);
    if (status >= 500) {
      const fields = { request_id: request.id, route: request.routeOptions.url, stack: stackOf(error) };
      request.log.error(fields, status === 503 ? 'service_unavailable' : 'defect');
    }
    const retryAfter = secondsUntilRoom(error, status);
    if (error instanceof HttpFault) reply.headers(error.headers);
    if (retryAfter !== undefined) reply.header('retry-after', String(retryAfter));
    const [title, message] = explain(error, status);
    const view = {
      status,
      title,
      message,
      offersReset: error instanceof TooManyAttempts && error.isOfPasswords,
      needsContact: error instanceof InsufficientScope,
      // Nothing of a form is shown again: another site may have sent it.
      again:
        status === 503 || error instanceof InvalidFormToken || error instanceof TooManyAtOnce
          ? pageOf(request)
          : undefined,
      isForm: request.method === 'POST',
      retryAfter,
    };
    void reply.send(page('error', view, status)(reply));
  }
}

function secondsUntilRoom(error: unknown, status: number): number | undefined {
  if (error instanceof TooManyAttempts) return error.seconds;
  if (error instanceof TooManyAtOnce) return SECONDS_AFTER_TOO_MANY;
  return status === 503 ? RETRY_AFTER_SECONDS : undefined;
}

function statusOf(error: unknown): number {
  if (error instanceof DomainError) return STATUS_OF_KIND[error.kind];
  if (error instanceof InvalidFormToken) return 403;
  if (error instanceof TooManyAtOnce) return 429;
  if (error instanceof HttpException) return error.getStatus();
  const status = error instanceof Error && 'statusCode' in error ? error.statusCode : undefined;
  return typeof status === 'number' && status >= 400 && status < 500 ? status : 500;
}

/** The view of a page about a status that no form or account has caused. */
export function plainError(status: number): Views['error'] {
  const [title, message] = explain(undefined, status);
  return { status, title, message, isForm: false };
}

function explain(error: unknown, status: number): readonly [string, string] {
  if (error instanceof TooManyAttempts) return ['Too many attempts', `The limit is ${error.limit}.`];
  if (error instanceof InsufficientScope)
    return ['Not allowed', `Your account lacks a scope for this: ${error.scopes.join(', ')}.`];
  return EXPLANATIONS[status] ?? ['That did not work', 'The request was refused.'];
}
