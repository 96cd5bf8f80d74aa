import { type AccountKey, Authenticate } from '@adoption-store/domain';
import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { HttpRefusal } from './error-codes.js';

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
  constructor(private readonly authenticate: Authenticate) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    request.caller = await this.authenticate.execute(bearerToken(request));
    return true;
  }
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
