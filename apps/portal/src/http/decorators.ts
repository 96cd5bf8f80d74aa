import { createParamDecorator, type ExecutionContext, Res, SetMetadata } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Account } from '@adoption-store/domain';
import type { FastifyRequest } from 'fastify';
import type { Guess } from './attempts.js';

const PUBLIC = 'public';

/** Marks pages that need no session. */
export const Public = () => SetMetadata(PUBLIC, true);

export function isPublic(reflector: Reflector, context: ExecutionContext): boolean {
  return reflector.getAllAndOverride<boolean | undefined>(PUBLIC, [context.getHandler(), context.getClass()]) === true;
}

/** Marks a form that has an additional limit, or no limit at all. */
export const CountsAs = Reflector.createDecorator<Guess | 'uncounted'>();

/** Marks a form that waits for foreign servers. Those of one account wait for each other, and keep no other form waiting. */
export const CallsServers = Reflector.createDecorator<boolean>();

/** The signed-in account. Undefined only on public pages. */
export const SignedIn = createParamDecorator(
  (_: unknown, context: ExecutionContext): Account | undefined =>
    context.switchToHttp().getRequest<FastifyRequest>().person?.account,
);

/** The reply, to set cookies. The page is what the method returns. */
export const Reply = () => Res({ passthrough: true });

/** Nest's token for the domain's clock, which is an interface and can't be a token itself. */
export const CLOCK = 'Clock';
