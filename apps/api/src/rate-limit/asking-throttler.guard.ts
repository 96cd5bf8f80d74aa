import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { getStorageToken } from '@nestjs/throttler';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { tellLimits } from '../http/limit-headers.js';
import { RequestCounterStorage } from '../http/request-counter.storage.js';

/** For a route that only tells how the caller stands: each key has a bucket of its own there, and spends no quota. */
@Injectable()
export class AskingThrottlerGuard implements CanActivate {
  constructor(@Inject(getStorageToken()) private readonly storage: RequestCounterStorage) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const reply = http.getResponse<FastifyReply>();
    const { clock } = this.storage;
    const refusal = tellLimits(reply, await this.storage.countAsking(request.caller), clock.now());
    if (refusal !== undefined) throw refusal;
    request.verdict = await this.storage.look(request.caller);
    tellLimits(reply, request.verdict, clock.now());
    return true;
  }
}
