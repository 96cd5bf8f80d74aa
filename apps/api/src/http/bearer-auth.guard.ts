import { type AccountKey, Authenticate, DomainError } from '@adoption-store/domain';
import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { getStorageToken } from '@nestjs/throttler';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { errorStatuses, HttpRefusal } from './error-codes.js';
import { addressOf, limitHeaders, refusalOf } from './limit-headers.js';
import { RequestCounterStorage } from './request-counter.storage.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Who is calling; set by the guard, so never absent in a handler. */
    caller: AccountKey;
  }
}

// The scheme is case-insensitive (RFC 9110 §11.1), then exactly one space and one token of at most 256 characters.
const CREDENTIALS = /^bearer ([A-Za-z0-9\-._~+/]{1,256}={0,2})$/i;

/** Lets in whoever has a valid key. It stands before every route, the unknown ones too. */
@Injectable()
export class BearerAuthGuard implements CanActivate {
  constructor(
    private readonly authenticate: Authenticate,
    @Inject(getStorageToken()) private readonly storage: RequestCounterStorage,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    try {
      request.caller = await this.authenticate.execute(bearerToken(request));
      return true;
    } catch (error) {
      if (!isUnauthenticated(error)) throw error;
      throw (await this.refuseAddress(request, http.getResponse<FastifyReply>())) ?? error;
    }
  }

  /** Counts a request of nobody we know against its address; the refusal where that has sent too many. */
  private async refuseAddress(request: FastifyRequest, reply: FastifyReply): Promise<HttpRefusal | undefined> {
    const verdict = await this.storage.count(addressOf(request));
    const now = this.storage.clock.now();
    reply.headers(limitHeaders(verdict, now));
    return refusalOf(verdict, now);
  }
}

function isUnauthenticated(error: unknown): boolean {
  if (error instanceof DomainError) return error.kind === 'unauthenticated';
  return error instanceof HttpRefusal && errorStatuses[error.code] === 401;
}

function bearerToken({ headers, raw }: FastifyRequest): string {
  const { authorization } = headers;
  if (authorization === undefined) {
    throw new HttpRefusal('missing_api_key', 'the Authorization header is missing, it must be "Bearer <API key>"');
  }
  // Node keeps the first of several and drops the others.
  if (countHeaders(raw.rawHeaders, 'authorization') > 1) {
    throw new HttpRefusal('invalid_api_key', 'the Authorization header must be sent once');
  }
  const token = CREDENTIALS.exec(authorization)?.[1];
  if (token === undefined) {
    throw new HttpRefusal('invalid_api_key', 'the Authorization header must be "Bearer <API key>"');
  }
  return token;
}

/** How often a header was sent; `rawHeaders` is name, value, name, value … */
export function countHeaders(rawHeaders: readonly string[], name: string): number {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const candidate = rawHeaders[index];
    if (candidate?.length === name.length && candidate.toLowerCase() === name) count += 1;
  }
  return count;
}
