import { createHash } from 'node:crypto';
import { AnswerOnce, DomainError, type DomainErrorKind } from '@adoption-store/domain';
import {
  type CallHandler,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
  UseInterceptors,
} from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { defer, lastValueFrom, type Observable } from 'rxjs';
import { countHeaders } from './bearer-auth.guard.js';
import { HttpRefusal } from './error-codes.js';
import { bodyOf } from './json-body.decorator.js';

/** What is kept of an answer: its body and where the new resource is, or why it was refused. */
type Answer =
  | { readonly body: string; readonly location?: string }
  | { readonly code: DomainError['code']; readonly message: string };

/** What the use case has found, and would find again. All else may be different the next time. */
const KEPT: ReadonlySet<DomainErrorKind> = new Set(['not_found', 'conflict']);

/** A request with an `Idempotency-Key` happens once, however often it is sent: its answer is kept and given again. */
@Injectable()
export class IdempotencyInterceptor implements NestInterceptor {
  constructor(private readonly answerOnce: AnswerOnce) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const key = request.headers['idempotency-key'];
    if (key === undefined) return next.handle();
    return defer(() => this.answer(request, http.getResponse<FastifyReply>(), String(key), next));
  }

  private async answer(request: FastifyRequest, reply: FastifyReply, key: string, next: CallHandler): Promise<string> {
    if (countHeaders(request.raw.rawHeaders, 'idempotency-key') > 1) {
      throw new HttpRefusal('invalid_parameter', 'Idempotency-Key must be sent once');
    }
    const fingerprint = createHash('sha256')
      .update(`${request.originalUrl}\n`)
      .update(await bodyOf(request))
      .digest('base64url');
    const input = { accountId: request.caller.account.id, key, fingerprint };
    const { answer, isReplay } = await this.answerOnce.execute(input, async () =>
      JSON.stringify(await answerOf(reply, next)),
    );
    if (isReplay) reply.header('idempotent-replayed', 'true');
    return give(JSON.parse(answer) as Answer, reply);
  }
}

/** For every operation that changes something; the others need no key. */
export const Idempotent = () => UseInterceptors(IdempotencyInterceptor);

async function answerOf(reply: FastifyReply, next: CallHandler): Promise<Answer> {
  try {
    const body = reply.serialize(await lastValueFrom(next.handle())) as string;
    const location = reply.getHeader('location');
    return { body, ...(location !== undefined && { location: String(location) }) };
  } catch (error) {
    if (error instanceof DomainError && KEPT.has(error.kind)) return { code: error.code, message: error.message };
    throw error;
  }
}

function give(answer: Answer, reply: FastifyReply): string {
  if ('code' in answer) throw new DomainError(answer.code, answer.message);
  if (answer.location !== undefined) reply.header('location', answer.location);
  reply.type('application/json; charset=utf-8');
  return answer.body;
}
