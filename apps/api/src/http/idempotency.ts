import { createHash } from 'node:crypto';
import { AnswerOnce, DomainError, type DomainErrorKind } from '@adoption-store/domain';
import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isRepeated } from './bearer-auth.guard.js';
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
export class Idempotency {
  constructor(private readonly answerOnce: AnswerOnce) {}

  /** Does the work where it hasn't been done; what it gives is the JSON text of the answer. */
  once(request: FastifyRequest, reply: FastifyReply, work: () => Promise<string>): Promise<string> {
    const key = request.headers['idempotency-key'];
    return key === undefined ? work() : this.underKey(String(key), request, reply, work);
  }

  private async underKey(
    key: string,
    request: FastifyRequest,
    reply: FastifyReply,
    work: () => Promise<string>,
  ): Promise<string> {
    if (isRepeated(request.raw.rawHeaders, 'idempotency-key')) {
      throw new HttpRefusal('invalid_parameter', 'Idempotency-Key must be sent once');
    }
    const fingerprint = createHash('sha256')
      .update(`${request.originalUrl}\n`)
      .update(await bodyOf(request))
      .digest('base64url');
    const input = { accountId: request.caller.account.id, key, fingerprint };
    const { answer, isReplay } = await this.answerOnce.execute(input, async () =>
      JSON.stringify(await answerOf(reply, work)),
    );
    if (isReplay) reply.header('idempotent-replayed', 'true');
    return give(JSON.parse(answer) as Answer, reply);
  }
}

async function answerOf(reply: FastifyReply, work: () => Promise<string>): Promise<Answer> {
  try {
    const body = await work();
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
  return answer.body;
}
