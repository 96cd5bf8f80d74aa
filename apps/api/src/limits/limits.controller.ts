import { LIMITS_REQUESTS_PER_MINUTE, type QuotaWindow, remainingIn, SECOND } from '@adoption-store/domain';
import { Admission, resetSeconds } from '@adoption-store/admission';
import { Controller, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Operation } from '../http/operations/operation.js';
import { json } from '../http/operations/schema.js';
import { NOBODY_BANNED } from './rate-limit.schema.js';

@Controller()
export class LimitsController {
  constructor(private readonly admission: Admission) {}

  /** The caller's plan, limits and ban. It costs no quota, because it has a limit of its own. */
  @Operation('GET /v1/rate_limit', {
    id: 'getRateLimit',
    scope: 'none',
    summary: 'Get the limits',
    description:
      'Gets the plan, the requests used and left, and the ban. It costs no quota, and works without any quota left; ' +
      `a key may send it ${LIMITS_REQUESTS_PER_MINUTE} times a minute.`,
    success: {
      200: [
        'The plan and limits of the caller.',
        json('RateLimit', {
          'room left': NOBODY_BANNED,
          banned: { ...NOBODY_BANNED, ban: { until: 1_795_262_700 } },
        }),
      ],
    },
    hasOwnBucket: true,
    hasEntityTag: false,
  })
  async get(@Req() { caller }: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply) {
    const { verdict, headers } = await this.admission.peek(caller);
    reply.headers(headers);
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
