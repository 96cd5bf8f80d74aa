import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { type Admission, refusalHeaders } from '@adoption-store/admission';
import type { HttpFault, SocketAnswer, SocketResponder } from '@adoption-store/web/edge';
import type { FastifyRequest } from 'fastify';
import { errorBody, JSON_TYPE, httpErrorOf } from '../answers/error-codes.js';
import type { RequestObserver } from './observers.js';
import { requestId } from './request-id.js';

/** Answers requests that can't be parsed and reach no hook, with an Error body. Counts them against their address. */
export class SocketErrors implements SocketResponder {
  constructor(
    private readonly admission: Admission,
    private readonly observers: readonly RequestObserver[],
    private readonly headers: Readonly<Record<string, string>>,
  ) {}

  async answer(fault: HttpFault, socket: Socket, request?: IncomingMessage): Promise<SocketAnswer> {
    const { headers: limitHeaders, refusal } = await this.admission.countAddress(socket.remoteAddress ?? '');
    const { code, message } = refusal ?? fault;
    const error = errorBody(code, message);
    const id = request === undefined ? randomUUID() : requestId(request);
    for (const observer of this.observers) {
      observer.onSocketAnswer({ requestId: id, method: request?.method, status: error.status, code: error.code });
    }
    const ofError = refusal === undefined ? fault.headers : refusalHeaders(refusal, false);
    const own = { 'content-type': JSON_TYPE, 'x-request-id': id };
    const headers = { ...own, ...this.headers, ...ofError, ...limitHeaders };
    return { status: error.status, headers, body: JSON.stringify(error) };
  }

  breakOff({ received }: FastifyRequest, fault: HttpFault): void {
    received?.breakOff(httpErrorOf(fault));
  }
}
