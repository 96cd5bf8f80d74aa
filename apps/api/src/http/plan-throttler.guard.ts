import { type ExecutionContext, Inject, Injectable, SetMetadata } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { getOptionsToken, getStorageToken, ThrottlerGuard, type ThrottlerModuleOptions } from '@nestjs/throttler';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { limitHeaders, refusalOf } from './limit-headers.js';
import { RequestCounterStorage } from './request-counter.storage.js';

const WITHOUT_QUOTA = 'without-quota';

/** A route that only tells: it is never counted, and answers also where there is no room left. */
export const WithoutQuota = () => SetMetadata(WITHOUT_QUOTA, true);

/** The throttler, by the plan of the caller: both windows in one step, and the headers from that same decision. */
@Injectable()
export class PlanThrottlerGuard extends ThrottlerGuard {
  constructor(
    @Inject(getOptionsToken()) options: ThrottlerModuleOptions,
    @Inject(getStorageToken()) private readonly storage: RequestCounterStorage,
    reflector: Reflector,
  ) {
    super(options, storage, reflector);
  }

  /** The throttler's own looks up a dozen settings that a route may have of its own; none has any. */
  override async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const { caller } = http.getRequest<FastifyRequest>();
    const isFree = this.isWithoutQuota(context);
    const verdict = await (isFree ? this.storage.look(caller) : this.storage.count(caller));
    const now = this.storage.clock.now();
    http.getResponse<FastifyReply>().headers(limitHeaders(verdict, now));
    const refusal = isFree ? undefined : refusalOf(verdict, now);
    if (refusal) throw refusal;
    return true;
  }

  private isWithoutQuota(context: ExecutionContext): boolean {
    return this.reflector.get<boolean | undefined>(WITHOUT_QUOTA, context.getHandler()) ?? false;
  }
}
