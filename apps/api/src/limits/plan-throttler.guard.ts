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
import { judgementOf } from '../http/limit-headers.js';
import { RequestLimits } from '../http/request-limits.js';

/**
 * Nest's throttler with the limits of the caller's plan. One step checks both windows and gives the headers. The
 * throttler's own storage is never used.
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
    const { headers, refusal } = judgementOf(verdict, this.limits.clock.now());
    http.getResponse<FastifyReply>().headers(headers);
    if (refusal !== undefined) throw refusal;
    return true;
  }
}
