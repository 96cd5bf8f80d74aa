import { type Account, type Application, LONGEST_SESSION, SECOND, type SignedInPerson } from '@adoption-store/domain';
import type { Signer } from '@fastify/cookie';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { cookieName } from './cookies.js';
import type { Devices } from './devices.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The response is the same for every visitor, so no session is looked up. */
    isForEverybody?: boolean;
  }

  interface FastifyRequest {
    person: SignedInPerson | undefined;
    /** Whether the browser has the cookie of a session that has ended. */
    hasEndedSession: boolean;
  }
}

type UseCases = Pick<Application, 'beginSession' | 'resumeSession' | 'renewSession' | 'endSession'>;

const COOKIE = 'session';

/** The sessions of the browsers. Only signing in and changing the password set a session's cookie. */
export class Sessions {
  constructor(
    private readonly useCases: UseCases,
    private readonly devices: Devices,
    private readonly signer: Signer,
  ) {}

  keep(fastify: FastifyInstance): void {
    fastify.decorateRequest('person', undefined);
    fastify.decorateRequest('hasEndedSession', false);
    // After the body has arrived, because the session may end while a form is being sent.
    fastify.addHook('preHandler', async (request) => {
      if (request.routeOptions.config.isForEverybody !== true) await this.resume(request);
    });
  }

  /** The token is new, because somebody may have planted or seen the browser's earlier one. */
  async begin(reply: FastifyReply, account: Account): Promise<void> {
    const replacing = reply.request.person?.sessionId;
    this.give(reply, account, await this.useCases.beginSession.execute({ account, replacing }));
  }

  /** Continues the session after a password change, unless it has ended meanwhile. */
  async renew(reply: FastifyReply, account: Account): Promise<void> {
    const id = reply.request.person?.sessionId;
    if (id !== undefined) this.give(reply, account, await this.useCases.renewSession.execute({ id, account }));
  }

  async end(reply: FastifyReply): Promise<void> {
    const { request } = reply;
    if (request.person !== undefined) await this.useCases.endSession.execute({ id: request.person.sessionId });
    reply.clearCookie(cookieName(request, COOKIE));
  }

  private async resume(request: FastifyRequest): Promise<void> {
    const { valid, value } = this.signer.unsign(request.cookies[cookieName(request, COOKIE)] ?? '');
    if (!valid) return;
    request.person = await this.useCases.resumeSession.execute(value);
    request.hasEndedSession = request.person === undefined;
  }

  private give(reply: FastifyReply, account: Account, token: string | undefined): void {
    this.devices.remember(reply, account);
    if (token === undefined) return;
    const maxAge = LONGEST_SESSION / SECOND;
    reply.setCookie(cookieName(reply.request, COOKIE), this.signer.sign(token), { maxAge });
  }
}
