import { type QuotaWindow, remainingIn, SECOND } from '@adoption-store/domain';
import { Controller, Get, Req, UseGuards } from '@nestjs/common';
import { SkipThrottle } from '@nestjs/throttler';
import type { FastifyRequest } from 'fastify';
import { resetSeconds } from '../http/limit-headers.js';
import { AskingThrottlerGuard } from './asking-throttler.guard.js';

@Controller('v1/rate_limit')
export class RateLimitController {
  /** How the caller stands. It costs no quota, so that asking is always possible. */
  @Get()
  @SkipThrottle({ plan: true })
  @UseGuards(AskingThrottlerGuard)
  get(@Req() { caller, verdict: { minute, day, bannedUntil } }: FastifyRequest) {
    return {
      plan: caller.account.plan.name,
      minute: presentWindow(minute),
      day: presentWindow(day),
      ban: bannedUntil === undefined ? null : { until: Math.ceil(bannedUntil / SECOND) },
    };
  }
}

/** What clients see of a window; `reset` is in Unix seconds. */
function presentWindow(window: QuotaWindow) {
  return { limit: window.limit, used: window.used, remaining: remainingIn(window), reset: resetSeconds(window) };
}
