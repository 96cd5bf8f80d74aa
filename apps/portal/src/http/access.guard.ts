import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import { Attempts } from './attempts.js';
import { CountsAs, isPublic } from './decorators.js';
import { InvalidFormToken, SignInNeeded } from './refusals.js';

/** Requires a session for every page that isn't public. Checks the token of every form, and counts it. */
@Injectable()
export class AccessGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly attempts: Attempts,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const isVisitors = isPublic(this.reflector, context);
    // First, because a person whose session has ended should learn that.
    if (request.person === undefined && !isVisitors) throw new SignInNeeded();
    if (request.method !== 'POST') return true;
    const kind = this.reflector.get(CountsAs, context.getHandler());
    // Without a session, signing out changes nothing.
    const isHarmless = kind === 'uncounted' && request.person === undefined;
    if (!isHarmless && !request.hasFormToken()) throw new InvalidFormToken();
    if (kind !== 'uncounted')
      await this.attempts.count(request, isVisitors ? undefined : request.person?.account, kind);
    return true;
  }
}
