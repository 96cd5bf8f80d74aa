import { randomBytes } from 'node:crypto';
import { type Account, type AccountId, type Clock, DAY, type GetAccount } from '@adoption-store/domain';
import type { Signer } from '@fastify/cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { cookieName } from './cookies.js';

const COOKIE = 'device';
const LIFE = 365 * DAY;
const CONTENT = /^(\d{1,19})\.(\d{1,10})\.(\d{1,15})\.([\w-]{22})$/;

/** A browser in which somebody has signed in to an account before. */
export interface Device {
  readonly accountId: AccountId;
  /** Tells it from the account's other browsers. */
  readonly nonce: string;
}

interface Remembered extends Device {
  readonly credentialVersion: number;
  readonly rememberedAt: number;
}

/**
 * Knows browsers again by a signed cookie, so that wrong guesses of strangers lock nobody else out (OWASP, Slow Down
 * Online Guessing Attacks with Device Cookies). It lets nobody in.
 */
export class Devices {
  constructor(
    private readonly getAccount: GetAccount,
    private readonly signer: Signer,
    private readonly clock: Clock,
  ) {}

  /** For the account that was just signed in to. A browser that is known keeps its count. */
  remember(request: FastifyRequest, reply: FastifyReply, { id, credentialVersion }: Account): void {
    const known = this.read(request);
    const nonce = known?.accountId === id ? known.nonce : randomBytes(16).toString('base64url');
    const content = `${id}.${credentialVersion}.${this.clock.now()}.${nonce}`;
    reply.setCookie(cookieName(request, COOKIE), this.signer.sign(content), { maxAge: LIFE / 1_000 });
  }

  /**
   * The browser, where it has signed in to the account of that address with the password that the account still has:
   * somebody who only knows an earlier one may hold any number of cookies.
   */
  async recognise(request: FastifyRequest, email: string): Promise<Device | undefined> {
    const known = this.read(request);
    if (known === undefined || this.clock.now() >= known.rememberedAt + LIFE) return undefined;
    const account = await this.getAccount.execute(known.accountId);
    return account?.email === email && account.credentialVersion === known.credentialVersion ? known : undefined;
  }

  private read(request: FastifyRequest): Remembered | undefined {
    const { valid, value } = this.signer.unsign(request.cookies[cookieName(request, COOKIE)] ?? '');
    const parts = valid ? CONTENT.exec(value) : null;
    if (parts === null) return undefined;
    const [, id = '', version, at, nonce = ''] = parts;
    return { accountId: BigInt(id) as AccountId, credentialVersion: Number(version), rememberedAt: Number(at), nonce };
  }
}
