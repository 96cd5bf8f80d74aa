import { Inject, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import {
  getOptionsToken,
  getStorageToken,
  ThrottlerGuard,
  type ThrottlerModuleOptions,
  type ThrottlerRequest,
  ThrottlerStorage,
} from '@nestjs/throttler';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { setLimitHeaders } from './limit-headers.js';
import { RequestLimits } from './request-limits.js';

/**
 * Nest's throttler with the caller's plan: both windows are decided in one step, which also gives the headers. Its own
 * storage is never asked.
 */
@Injectable()
export class PlanThrottlerGuard extends ThrottlerGuard {
  constructor(
    @Inject(getOptionsToken()) options: ThrottlerModuleOptions,
    @Inject(getStorageToken()) storage: ThrottlerStorage,
    reflector: Reflector,
    private readonly limits: RequestLimits,
  ) {
    super(options, storage, reflector);
  }

  protected override async handleRequest({ context }: ThrottlerRequest): Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const verdict = await this.limits.count(request.caller);
    request.verdict = verdict;
    const refusal = setLimitHeaders(http.getResponse<FastifyReply>(), verdict, this.limits.clock.now());
    if (refusal !== undefined) throw refusal;
    return true;
  }
}
