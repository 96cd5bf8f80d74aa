import type { KeyRequester, RecordRefusal } from '@adoption-store/domain';
import type { FastifyRequest } from 'fastify';
import { shownRoute } from '../observability/request-observers.js';
import { loggedId } from '../observability/request-trace.js';
import { type ErrorCode, errorStatuses } from './error-codes.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** The owner of the request's key, if that was issued but doesn't work. */
    unusableKey?: KeyRequester;
  }
}

/** Records the refused requests of known accounts, for their people to see. */
export class RefusalRecorder {
  /** By route and method, so that the names are made once. There are as many as operations. */
  private readonly operations = new Map<string, ReadonlyMap<string, string>>();

  constructor(private readonly recordRefusal: RecordRefusal) {}

  /** Errors of the server are not recorded: its operators see them in the log. */
  record(request: FastifyRequest, code: ErrorCode): void {
    // Undefined if the request wasn't authenticated.
    const owner = (request.caller as KeyRequester | undefined) ?? request.unusableKey;
    if (owner === undefined || errorStatuses[code] >= 500) return;
    const operation = this.operationOf(request);
    this.recordRefusal.execute(owner, { operation, code, requestId: loggedId(request.id) });
  }

  private operationOf({ method, routeOptions: { url = '*' } }: FastifyRequest): string {
    const known = this.operations.get(url)?.get(method);
    if (known !== undefined) return known;
    const operation = `${method} ${shownRoute(url)}`;
    this.operations.set(url, new Map(this.operations.get(url)).set(method, operation));
    return operation;
  }
}
