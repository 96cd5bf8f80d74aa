import { type Account, type AccountId, type Clock, type GetAccount, HOUR, MINUTE } from '@adoption-store/domain';
import type { Query } from '@adoption-store/infrastructure';
import fastifySession from '@fastify/session';
import connectPgSimple from 'connect-pg-simple';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

declare module 'fastify' {
  interface Session {
    accountId?: string;
    credentialVersion?: number;
    begunAt?: number;
    /** The minute it was last used in. */
    usedAt?: number;
  }

  interface FastifyRequest {
    /** Of the person who is signed in. */
    account: Account | undefined;
  }
}

/** A session ends when it wasn't used for so long, and after so long however much it is used. */
const IDLE_TIME = 30 * MINUTE;
const LONGEST_TIME = 12 * HOUR;
const COOKIE = 'session';

/** Who is signed in, in which browser; nobody else has a session. */
export class Sessions {
  constructor(
    private readonly getAccount: GetAccount,
    private readonly clock: Clock,
  ) {}

  /** From now on each request has its session, and the account of who is signed in. */
  async keep(fastify: FastifyInstance, query: Query, secret: string): Promise<void> {
    const Store = connectPgSimple(fastifySession);
    const store = new Store({
      pool: { query },
      tableName: 'sessions',
      errorLog: (message, error) => {
        fastify.log.warn(`${message} ${error.message}`);
      },
    });
    fastify.addHook('onClose', () => store.close());
    fastify.decorateRequest('account', undefined);
    await fastify.register(fastifySession, {
      secret,
      store,
      cookieName: COOKIE,
      cookie: { path: '/', httpOnly: true, sameSite: 'lax', secure: 'auto', maxAge: IDLE_TIME },
      saveUninitialized: false,
      // Else it would be written anew with each request, where once a minute does (`accountOf`).
      rolling: false,
    });
    fastify.addHook('onRequest', async (request) => {
      request.account = await this.accountOf(request);
    });
  }

  /** With another id than before, which somebody may have planted or seen. */
  async begin(request: FastifyRequest, account: Account): Promise<void> {
    const now = this.clock.now();
    await request.session.regenerate();
    Object.assign(request.session, {
      accountId: String(account.id),
      credentialVersion: account.credentialVersion,
      begunAt: now,
      usedAt: now,
    });
    request.account = account;
  }

  async end(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    await request.session.destroy();
    request.account = undefined;
    reply.clearCookie(COOKIE, { path: '/' });
  }

  private async accountOf({ session }: FastifyRequest): Promise<Account | undefined> {
    const { accountId, credentialVersion, begunAt, usedAt } = session;
    if (accountId === undefined || begunAt === undefined || usedAt === undefined) return undefined;
    const now = this.clock.now();
    const isOver = now >= begunAt + LONGEST_TIME || now >= usedAt + IDLE_TIME;
    const account = isOver ? undefined : await this.getAccount.execute(BigInt(accountId) as AccountId);
    if (account === undefined || account.credentialVersion !== credentialVersion) {
      await session.regenerate();
      return undefined;
    }
    if (now >= usedAt + MINUTE) session.usedAt = now;
    return account;
  }
}
