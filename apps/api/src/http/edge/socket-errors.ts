import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { HttpFault, SocketAnswer, SocketResponder } from '@adoption-store/web/edge';
import type { FastifyRequest } from 'fastify';
import type { AddressLimits } from './address-limits.js';
import { errorBody, JSON_TYPE, asRefusal } from '../answers/error-codes.js';
import type { RequestObserver } from './observers.js';
import { requestId } from './request-id.js';

/**
 * Answers requests that can't be parsed, and so reach no hook, with an Error body. Counts them against their address.
 */
export class SocketErrors implements SocketResponder {
  constructor(
    private readonly limits: AddressLimits,
    private readonly observers: readonly RequestObserver[],
    /** The headers of every refusal. */
    private readonly headers: Readonly<Record<string, string>>,
  ) {}

  async answer(fault: HttpFault, socket: Socket, request?: IncomingMessage): Promise<SocketAnswer> {
    const { headers: limitHeaders, refusal = fault } = await this.limits.count(socket.remoteAddress ?? '');
    const error = errorBody(refusal.code, refusal.message);
    const id = request === undefined ? randomUUID() : requestId(request);
    for (const observer of this.observers) {
      observer.onSocketAnswer({ requestId: id, method: request?.method, status: error.status, code: error.code });
    }
    const own = { 'content-type': JSON_TYPE, 'x-request-id': id };
    const headers = { ...own, ...this.headers, ...refusal.headers, ...limitHeaders };
    return { status: error.status, headers, body: JSON.stringify(error) };
  }

  breakOff({ received }: FastifyRequest, fault: HttpFault): void {
    received?.breakOff(asRefusal(fault));
  }
}
