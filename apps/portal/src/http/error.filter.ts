import { DomainError, type DomainErrorKind, InsufficientScope } from '@adoption-store/domain';
import { stackOf } from '@adoption-store/web';
import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { FormRefused } from './csrf.js';
import { refusedForm } from './forms.js';
import { TooManyAttempts } from './form-throttler.guard.js';
import { Pages } from './pages.js';
import { askToSignIn, SignInNeeded } from './signed-in.guard.js';

/** The text of the error page, by status. */
const EXPLANATIONS: Readonly<Record<number, readonly [title: string, message: string]>> = {
  400: ['That did not work', 'The request could not be understood.'],
  403: [
    'This form has expired',
    'It was open for too long, or you signed in or out in the meantime. Nothing was saved. Check it and send it again.',
  ],
  404: ['Not found', 'There is no such page, or it is not yours.'],
  413: ['Form too large', 'The form is too large.'],
  415: ['That did not work', 'This page accepts only forms.'],
  500: ['Something went wrong', 'This is an error on our side, and it has been logged. Try again later.'],
  503: ['Temporarily unavailable', 'Try again in a moment.'],
};
const NOT_ALLOWED = ['Not allowed', 'Your account may not do this. Ask the operator for the scope.'] as const;
const STATUS_OF_KIND: Readonly<Record<DomainErrorKind, number>> = {
  invalid: 400,
  unauthenticated: 403,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  precondition: 412,
  unavailable: 503,
};
const RETRY_AFTER_SECONDS = '5';

/** Turns every error into a page. */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  constructor(private readonly pages: Pages) {}

  async catch(error: unknown, host: ArgumentsHost): Promise<void> {
    const request = host.switchToHttp().getRequest<FastifyRequest>();
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    if (reply.sent || reply.raw.headersSent) return;
    if (error instanceof SignInNeeded) {
      askToSignIn(request, reply);
      return;
    }
    const status = statusOf(error);
    if (status >= 500) {
      request.log.error({ request_id: request.id, route: request.routeOptions.url, stack: stackOf(error) }, 'defect');
    }
    if (status === 503) reply.header('retry-after', RETRY_AFTER_SECONDS);
    if (error instanceof TooManyAttempts) reply.header('retry-after', String(error.seconds));
    const [title, message] = explain(error, status);
    const refused = error instanceof FormRefused ? refusedForm(request.url, request.body) : undefined;
    await this.pages.show(request, reply, 'error', { status, title, message, refused }, status);
  }
}

function statusOf(error: unknown): number {
  if (error instanceof DomainError) {
    return STATUS_OF_KIND[error.kind];
  }
  if (error instanceof FormRefused) return 403;
  if (error instanceof HttpException) return error.getStatus();
  const status = error instanceof Error && 'statusCode' in error ? error.statusCode : undefined;
  return typeof status === 'number' && status >= 400 && status < 500 ? status : 500;
}

function explain(error: unknown, status: number): readonly [string, string] {
  if (error instanceof TooManyAttempts) return tooMany(error);
  if (error instanceof InsufficientScope) return NOT_ALLOWED;
  return EXPLANATIONS[status] ?? ['That did not work', 'The request was refused.'];
}

function tooMany({ seconds }: TooManyAttempts): readonly [string, string] {
  const minutes = Math.ceil(seconds / 60);
  return ['Too many attempts', `Try again in ${minutes === 1 ? 'a minute' : `${minutes} minutes`}.`];
}
