import type { Account } from '@adoption-store/domain';
import { type CanActivate, createParamDecorator, type ExecutionContext, Injectable, SetMetadata } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { cookieName } from './cookies.js';

const PUBLIC = 'public';
const COOKIE = 'next';
const SIGN_IN = '/sign-in';
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

/** Requires a session for every page that isn't public. */
@Injectable()
export class SignedInGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    if (isPublic(this.reflector, context)) return true;
    if (context.switchToHttp().getRequest<FastifyRequest>().account === undefined) throw new SignInNeeded();
    return true;
  }
}

/** The signed-in account, on a page that isn't public. */
export const SignedIn = createParamDecorator((_: unknown, context: ExecutionContext): Account => {
  const { account } = context.switchToHttp().getRequest<FastifyRequest>();
  if (account === undefined) throw new SignInNeeded();
  return account;
});

/** Redirects to the sign-in page, which leads back to the requested page. */
export function askToSignIn(request: FastifyRequest, reply: FastifyReply): void {
  if (request.method === 'GET') {
    reply.setCookie(cookieName(request, COOKIE), request.url, { maxAge: MAX_AGE });
  }
  reply.redirect(SIGN_IN, 303);
}

export function takeWantedPage(request: FastifyRequest, reply: FastifyReply): string {
  const cookie = cookieName(request, COOKIE);
  const wanted = request.cookies[cookie];
  if (wanted === undefined) return FIRST_PAGE;
  reply.clearCookie(cookie);
  return pathHere(wanted) ?? FIRST_PAGE;
}

/** Another site may have set that cookie, so the path must lead to a page of this portal as browsers resolve it. */
export function pathHere(text: string): string | undefined {
  const here = 'http://portal.invalid';
  if (!text.startsWith('/') || !URL.canParse(text, here)) return undefined;
  const { origin, pathname, search } = new URL(text, here);
  return origin === here && !pathname.startsWith('//') ? pathname + search : undefined;
}
