import { Authenticate, type Caller, UnusableKey } from '@adoption-store/domain';
import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AddressLimits } from '../http/edge/address-limits.js';
import { errorStatuses, HttpRefusal, isRefusal } from '../http/answers/error-codes.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the guard, so it is always there in a handler. */
    caller: Caller;
  }
}

// The scheme is case-insensitive (RFC 9110 §11.1), then exactly one space and one token of at most 256 characters.
const CREDENTIALS = /^bearer (?=.{1,256}$)([A-Za-z0-9\-._~+/]+={0,2})$/i;

/** Requires a valid key for every route, including unknown ones. */
@Injectable()
export class BearerAuthGuard implements CanActivate {
  constructor(
    private readonly authenticate: Authenticate,
    private readonly limits: AddressLimits,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const admit = (caller: Caller): boolean => {
      request.caller = caller;
      return true;
    };
    const refuse = (error: unknown) => this.refuse(error, request, http.getResponse<FastifyReply>());
    try {
      const caller = this.authenticate.execute(bearerToken(request));
      return caller instanceof Promise ? caller.then(admit, refuse) : admit(caller);
    } catch (error) {
      return refuse(error);
    }
  }

  /** A request without a valid key counts against its address. If the address is over its limit, the answer is 429. */
  private async refuse(error: unknown, request: FastifyRequest, reply: FastifyReply): Promise<never> {
    if (!isRefusal(error) || errorStatuses[error.code] !== 401) throw error;
    if (error instanceof UnusableKey) request.unusableKey = error.owner;
    const { headers, refusal } = await this.limits.count(request.ip);
    reply.headers(headers);
    throw refusal ?? error;
  }
}

function bearerToken({ headers, repeated }: FastifyRequest): string {
  const { authorization } = headers;
  if (authorization === undefined) {
    throw new HttpRefusal('missing_api_key', 'the Authorization header is missing, it must be "Bearer <API key>"');
  }
  if (repeated?.includes('authorization') === true) {
    throw new HttpRefusal('invalid_api_key', 'the Authorization header must be sent once');
  }
  const token = CREDENTIALS.exec(authorization)?.[1];
  if (token === undefined) {
    throw new HttpRefusal('invalid_api_key', 'the Authorization header must be "Bearer <API key>"');
  }
  return token;
}
