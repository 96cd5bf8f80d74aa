import {
  type Account,
  type BeginSession,
  type EndSession,
  LONGEST_SESSION,
  type RenewSession,
  type ResumeSession,
  SECOND,
} from '@adoption-store/domain';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { cookieName } from './cookies.js';
import { signerFor } from './secrets.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The answer is the same for everybody: nobody's session is looked up for it. */
    isForEverybody?: boolean;
  }

  interface FastifyRequest {
    /** Of the person who is signed in. */
    account: Account | undefined;
    /** Of the session that this person is signed in by. */
    sessionId: string | undefined;
  }
}

interface UseCases {
  readonly beginSession: BeginSession;
  readonly resumeSession: ResumeSession;
  readonly renewSession: RenewSession;
  readonly endSession: EndSession;
}

const COOKIE = 'session';

/** Keeps the signed-in account of each browser. Only signing in and a change of the password give a browser a session's cookie. */
export class Sessions {
  private readonly signer: ReturnType<typeof signerFor>;

  constructor(
    private readonly useCases: UseCases,
    secrets: readonly string[],
  ) {
    this.signer = signerFor('session', secrets);
  }

  /** From now on each request has the account of the person who is signed in. */
  keep(fastify: FastifyInstance): void {
    fastify.decorateRequest('account', undefined);
    fastify.decorateRequest('sessionId', undefined);
    // Once the body is there: a form that was sent slowly is judged by the session as it is at its end.
    fastify.addHook('preHandler', async (request) => {
      if (request.routeOptions.config.isForEverybody !== true) await this.resume(request);
    });
  }

  /** With another token than the browser came with, which somebody may have planted or seen. */
  async begin(request: FastifyRequest, reply: FastifyReply, account: Account): Promise<void> {
    const token = await this.useCases.beginSession.execute({ account, replacing: request.sessionId });
    this.give(request, reply, account, token);
  }

  /** The session goes on with the password that was changed in it, unless it has ended meanwhile. */
  async renew(request: FastifyRequest, reply: FastifyReply, account: Account): Promise<void> {
    const { sessionId: id } = request;
    const token = id === undefined ? undefined : await this.useCases.renewSession.execute({ id, account });
    this.give(request, reply, account, token);
  }

  async end(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { sessionId: id } = request;
    if (id !== undefined) await this.useCases.endSession.execute({ id });
    request.account = undefined;
    reply.clearCookie(cookieName(request, COOKIE));
  }

  private async resume(request: FastifyRequest): Promise<void> {
    const { valid, value } = this.signer.unsign(request.cookies[cookieName(request, COOKIE)] ?? '');
    if (!valid) return;
    const person = await this.useCases.resumeSession.execute(value);
    request.account = person?.account;
    request.sessionId = person?.sessionId;
  }

  private give(request: FastifyRequest, reply: FastifyReply, account: Account, token: string | undefined): void {
    request.account = token === undefined ? undefined : account;
    if (token === undefined) return;
    const maxAge = LONGEST_SESSION / SECOND;
    reply.setCookie(cookieName(request, COOKIE), this.signer.sign(token), { maxAge });
  }
}
