import { MINUTE } from '@adoption-store/domain';
import { type ExecutionContext, HttpException, HttpStatus, Injectable } from '@nestjs/common';
import { normalizeIp, ThrottlerGuard, type ThrottlerLimitDetail, type ThrottlerModuleOptions } from '@nestjs/throttler';
import type { FastifyRequest } from 'fastify';
import { fields } from './forms.js';

/** How often each form may be sent within a quarter of an hour: from one address, and of one account. */
export const ATTEMPTS = { address: 60, account: 10, time: 15 * MINUTE } as const;

export const THROTTLERS: ThrottlerModuleOptions = {
  throttlers: [
    { name: 'address', limit: ATTEMPTS.address, ttl: ATTEMPTS.time, getTracker: addressOf },
    { name: 'account', limit: ATTEMPTS.account, ttl: ATTEMPTS.time, getTracker: accountOf },
  ],
  setHeaders: false,
};

export class TooManyAttempts extends HttpException {
  constructor(readonly seconds: number) {
    super('too many attempts', HttpStatus.TOO_MANY_REQUESTS);
  }
}

/** Slows down who guesses passwords, asks which addresses have accounts, or has mail sent to strangers. */
@Injectable()
export class FormThrottlerGuard extends ThrottlerGuard {
  protected override throwThrottlingException(_: ExecutionContext, detail: ThrottlerLimitDetail): Promise<void> {
    return Promise.reject(new TooManyAttempts(detail.timeToBlockExpire));
  }
}

function addressOf(request: Record<string, unknown>): string {
  return normalizeIp((request as unknown as FastifyRequest).ip);
}

/** Whose account is meant, be it there or not; a form that names none counts by its address alone. */
function accountOf(request: Record<string, unknown>): string {
  const { account, body } = request as unknown as FastifyRequest;
  const email = account?.email ?? fields(body, 'email').email.toLowerCase();
  return email === '' ? addressOf(request) : email;
}
