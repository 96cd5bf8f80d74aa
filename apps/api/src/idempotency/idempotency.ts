import { createHash } from 'node:crypto';
import {
  AnswerOnce,
  DomainError,
  type DomainErrorKind,
  type RequestErrorCode,
  requestErrors,
  type Transaction,
  Wording,
} from '@adoption-store/domain';
import { Turns } from '@adoption-store/infrastructure/turns';
import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isRefusal } from '../http/answers/error-codes.js';
import { bodyOf } from '../http/operations/json-body.decorator.js';

export interface Done {
  readonly body: string;
  readonly location?: string;
}

/** The work of a request. With an `Idempotency-Key` it gets the transaction in which the answer is stored. */
type Work = (transaction?: Transaction) => Promise<Done>;

type Answer = Done | { readonly code: RequestErrorCode; readonly message: string; readonly kept?: string | undefined };

/** Errors that a repeated request would get again. Others may not occur again, so they aren't stored. */
const KEPT: ReadonlySet<DomainErrorKind> = new Set(['not_found', 'conflict']);

/** Runs a request with an `Idempotency-Key` once, however often it is sent: the response is stored and sent again. */
@Injectable()
export class Idempotency {
  constructor(
    private readonly answerOnce: AnswerOnce,
    private readonly turns: Turns,
  ) {}

  /** Runs `work` unless it has already been done. Returns the body, and sets the headers. */
  async once(request: FastifyRequest, reply: FastifyReply, work: Work): Promise<string> {
    const key = request.headers['idempotency-key'];
    const { body, location } = await (key === undefined
      ? this.withoutKey(request, work)
      : this.underKey(String(key), request, reply, work));
    if (location !== undefined) reply.header('location', location);
    return body;
  }

  private withoutKey({ caller, operation }: FastifyRequest, work: Work): Promise<Done> {
    return operation?.turns === 'batched' ? this.turns.additions.run(caller.account, () => work()) : work();
  }

  private async underKey(key: string, request: FastifyRequest, reply: FastifyReply, work: Work): Promise<Done> {
    // Not `originalUrl`, which may be in absolute form (RFC 9112 §3.2.2).
    const fingerprint = createHash('sha256')
      .update(`${request.url}\n`)
      .update(await bodyOf(request))
      .digest('base64url');
    const input = { accountId: request.caller.account.id, key, fingerprint };
    const answering = () =>
      this.answerOnce.execute(input, async (transaction) => JSON.stringify(await answerOf(() => work(transaction))));
    // A batched operation has taken no turn yet, and shares no statement here. The others have taken theirs.
    const isBatched = request.operation?.turns === 'batched';
    const { answer, isReplay } = await (isBatched
      ? this.turns.writes.run(request.caller.account, answering)
      : answering());
    if (isReplay) reply.header('idempotent-replayed', 'true');
    const kept = JSON.parse(answer) as Answer;
    if ('code' in kept) throw new DomainError(requestErrors[kept.code], wordingOf(kept));
    return kept;
  }
}

function wordingOf({ message, kept }: { readonly message: string; readonly kept?: string | undefined }) {
  return kept === undefined ? message : new Wording(message, kept);
}

async function answerOf(work: () => Promise<Done>): Promise<Answer> {
  try {
    return await work();
  } catch (error) {
    if (isRefusal(error) && error instanceof DomainError && KEPT.has(error.kind))
      return { code: error.code, message: error.message, kept: error.kept };
    throw error;
  }
}
