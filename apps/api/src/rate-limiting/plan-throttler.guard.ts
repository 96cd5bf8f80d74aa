import { Inject, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import {
  getOptionsToken,
  getStorageToken,
  ThrottlerGuard,
  type ThrottlerModuleOptions,
  type ThrottlerRequest,
} from '@nestjs/throttler';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { setLimitHeaders } from './limit-headers.js';
import { RequestCounterStorage } from './request-counter.storage.js';

/** Nest's throttler with the caller's plan: both windows are decided in one step, which also gives the headers. */
@Injectable()
export class PlanThrottlerGuard extends ThrottlerGuard {
  constructor(
    @Inject(getOptionsToken()) options: ThrottlerModuleOptions,
    @Inject(getStorageToken()) private readonly storage: RequestCounterStorage,
    reflector: Reflector,
  ) {
    super(options, storage, reflector);
  }

  protected override async handleRequest({ context }: ThrottlerRequest): Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const verdict = await this.storage.count(request.caller);
    request.verdict = verdict;
    const refusal = setLimitHeaders(http.getResponse<FastifyReply>(), verdict, this.storage.clock.now());
    if (refusal !== undefined) throw refusal;
    return true;
  }
}
