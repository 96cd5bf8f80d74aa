import type { Account } from '@adoption-store/domain';
import { type CanActivate, createParamDecorator, type ExecutionContext, Injectable, SetMetadata } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { cookieName, takeCookie } from './cookies.js';
import { FormRefused } from './csrf.js';
import { redirect } from './pages.js';
import { pathHere } from './paths.js';

const PUBLIC = 'public';
const COOKIE = 'next';
const SIGN_IN = '/sign-in';
const SIGN_OUT = '/sign-out';
const MAX_AGE = 600;
const FIRST_PAGE = '/keys';

/** Marks pages that need no session. */
export const Public = () => SetMetadata(PUBLIC, true);

export function isPublic(reflector: Reflector, context: ExecutionContext): boolean {
  return reflector.getAllAndOverride<boolean | undefined>(PUBLIC, [context.getHandler(), context.getClass()]) === true;
}

/** The page needs a signed-in account. */
export class SignInNeeded extends Error {
  override readonly name = 'SignInNeeded';
}

/** Requires a session for every page that isn't public, and of a form the token that belongs to it. */
@Injectable()
export class SignedInGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    const { account, isFormRefused, routeOptions } = context.switchToHttp().getRequest<FastifyRequest>();
    if (account !== undefined) return true;
    if (!isPublic(this.reflector, context)) throw new SignInNeeded();
    // Nobody is signed in, so signing out changes nothing.
    if (isFormRefused && routeOptions.url !== SIGN_OUT) throw new FormRefused();
    return true;
  }
}

/** The signed-in account, on a page that isn't public. */
export const SignedIn = createParamDecorator((_: unknown, context: ExecutionContext): Account =>
  accountOf(context.switchToHttp().getRequest<FastifyRequest>()),
);

/** @throws SignInNeeded */
export function accountOf({ account }: FastifyRequest): Account {
  if (account === undefined) throw new SignInNeeded();
  return account;
}

/** Redirects to the sign-in page, which leads back to the requested page. */
export function askToSignIn(reply: FastifyReply): void {
  wantPage(reply, reply.request.url);
  redirect(SIGN_IN, reply.request.hasEndedSession ? 'session-ended' : undefined)(reply);
}

/** Signing in leads to that page. */
export function wantPage(reply: FastifyReply, path: string): void {
  reply.setCookie(cookieName(reply.request, COOKIE), path, { maxAge: MAX_AGE });
}

export function takeWantedPage(reply: FastifyReply): string {
  return pathHere(takeCookie(reply, COOKIE) ?? '') ?? FIRST_PAGE;
}
