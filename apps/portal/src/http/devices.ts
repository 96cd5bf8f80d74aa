import { randomBytes } from 'node:crypto';
import { domainToASCII } from 'node:url';
import {
  type Account,
  type AccountId,
  canonicalAddress,
  type Clock,
  DAY,
  type GetAccount,
} from '@adoption-store/domain';
import type { Signer } from '@fastify/cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { cookieName } from './cookies.js';

const COOKIE = 'device';
const LIFE = 365 * DAY;
const CONTENT = /^(\d{1,19})\.(\d{1,10})\.(\d{1,15})\.([\w-]{22})$/;

/** A browser in which somebody has signed in to an account before. */
interface Device {
  readonly accountId: AccountId;
  /** Distinguishes it from the account's other browsers. */
  readonly nonce: string;
  readonly credentialVersion: number;
  readonly rememberedAt: number;
}

/**
 * Recognises browsers by a signed cookie, so that a stranger's wrong guesses lock out nobody else (OWASP, Slow Down
 * Online Guessing Attacks with Device Cookies). The cookie doesn't sign anybody in.
 */
export class Devices {
  constructor(
    private readonly getAccount: GetAccount,
    private readonly signer: Signer,
    private readonly clock: Clock,
  ) {}

  /** Sets the cookie after a sign-in to this account. A browser that is already known keeps its counter. */
  remember(reply: FastifyReply, { id, credentialVersion }: Account): void {
    const known = this.read(reply.request);
    const nonce = known?.accountId === id ? known.nonce : randomBytes(16).toString('base64url');
    const content = `${id}.${credentialVersion}.${this.clock.now()}.${nonce}`;
    reply.setCookie(cookieName(reply.request, COOKIE), this.signer.sign(content), { maxAge: LIFE / 1_000 });
  }

  /**
   * The browser, if it signed in to the account of that address with the current password. A person who only knows an
   * earlier password could have any number of cookies, so older ones don't count.
   */
  async recognise(request: FastifyRequest, email: string): Promise<Device | undefined> {
    const known = this.read(request);
    if (known === undefined || this.clock.now() >= known.rememberedAt + LIFE) return undefined;
    const account = await this.getAccount.execute(known.accountId);
    const isNamed = account !== undefined && [email, canonicalAddress(email, domainToASCII)].includes(account.email);
    return isNamed && account.credentialVersion === known.credentialVersion ? known : undefined;
  }

  private read(request: FastifyRequest): Device | undefined {
    const { valid, value } = this.signer.unsign(request.cookies[cookieName(request, COOKIE)] ?? '');
    const parts = valid ? CONTENT.exec(value) : null;
    if (parts === null) return undefined;
    const [, id = '', version, at, nonce = ''] = parts;
    return { accountId: BigInt(id) as AccountId, credentialVersion: Number(version), rememberedAt: Number(at), nonce };
  }
}
