import { MeterRequest, type QuotaWindow, remainingIn, SECOND } from '@adoption-store/domain';
import { Controller, Get, Req, Res } from '@nestjs/common';
import { SkipThrottle } from '@nestjs/throttler';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiContext } from '../http/api-context.js';
import { RequiresNoScope } from '../http/required-scope.js';
import { resetSeconds, setLimitHeaders } from './limit-headers.js';

@Controller('v1/rate_limit')
export class LimitsController {
  constructor(
    private readonly meter: MeterRequest,
    private readonly context: ApiContext,
  ) {}

  /** The caller's plan, limits and ban. It costs no quota: requests for it have a bucket of their own. */
  @Get()
  @SkipThrottle({ plan: true })
  @RequiresNoScope()
  async get(@Req() { caller }: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply) {
    const { clock } = this.context;
    const refusal = setLimitHeaders(reply, await this.meter.countAsking(caller), clock.now());
    if (refusal !== undefined) throw refusal;
    const verdict = await this.meter.look(caller);
    setLimitHeaders(reply, verdict, clock.now());
    const { minute, day, bannedUntil } = verdict;
    return {
      plan: caller.account.plan.name,
      minute: presentWindow(minute),
      day: presentWindow(day),
      ban: bannedUntil === undefined ? null : { until: Math.ceil(bannedUntil / SECOND) },
    };
  }
}

/** The JSON of a window; `reset` is in Unix seconds. */
function presentWindow(window: QuotaWindow) {
  return { limit: window.limit, used: window.used, remaining: remainingIn(window), reset: resetSeconds(window) };
}
