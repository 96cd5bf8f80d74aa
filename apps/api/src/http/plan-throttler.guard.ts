import type { Verdict } from '@adoption-store/domain';
import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { getOptionsToken, getStorageToken, ThrottlerGuard, type ThrottlerModuleOptions } from '@nestjs/throttler';
import type { FastifyRequest } from 'fastify';
import type { ApiReply } from './api-response.js';
import { tellLimits } from './limit-headers.js';
import { RequestCounterStorage } from './request-counter.storage.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** How the caller stands with this request; set by the guard, so never absent in a handler. */
    verdict: Verdict;
  }
}

const withoutQuota = new WeakSet<object>();

/** A route that only tells: it has a bucket of its own for each key, and answers also where there is no room left. */
export function WithoutQuota(): MethodDecorator {
  // Not as metadata, which each request would have to look up.
  return (_controller, _name, { value: handler }) => void withoutQuota.add(handler as object);
}

/** The throttler's guard, which may answer at once as any guard may. */
const Guard: new (...parameters: ConstructorParameters<typeof ThrottlerGuard>) => CanActivate = ThrottlerGuard;

/** The throttler, by the plan of the caller: both windows in one step, and the headers from that same decision. */
@Injectable()
export class PlanThrottlerGuard extends Guard {
  constructor(
    @Inject(getOptionsToken()) options: ThrottlerModuleOptions,
    @Inject(getStorageToken()) private readonly storage: RequestCounterStorage,
    reflector: Reflector,
  ) {
    super(options, storage, reflector);
  }

  /** The throttler's own looks up a dozen settings that a route may have of its own; none has any. */
  override async canActivate(context: ExecutionContext): Promise<boolean> {
    const [request, reply] = context.getArgs<[FastifyRequest, ApiReply]>();
    const { caller } = request;
    if (withoutQuota.has(context.getHandler())) return this.admitAsking(request, reply);
    const verdict = await this.storage.count(caller);
    const refusal = tellLimits(reply, verdict, this.storage.clock.now());
    if (refusal !== undefined) throw refusal;
    request.verdict = verdict;
    return true;
  }

  private async admitAsking(request: FastifyRequest, reply: ApiReply): Promise<boolean> {
    const { caller } = request;
    const refusal = tellLimits(reply, await this.storage.countAsking(caller), this.storage.clock.now());
    if (refusal !== undefined) throw refusal;
    request.verdict = await this.storage.look(caller);
    tellLimits(reply, request.verdict, this.storage.clock.now());
    return true;
  }
}
