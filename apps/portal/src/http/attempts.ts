import { domainToASCII } from 'node:url';
import {
  type Account,
  type AccountId,
  type AttemptLimit,
  canonicalAddress,
  ChangeAddress,
  FindAccount,
  HOUR,
  LimitAttempts,
  MINUTE,
  readTypedAddress,
  SECOND,
} from '@adoption-store/domain';
import { Injectable } from '@nestjs/common';
import { networkOf } from '@adoption-store/admission';
import type { FastifyRequest } from 'fastify';
import { Devices } from './devices.js';
import { fields } from './forms.js';
import { TooManyAttempts } from './refusals.js';
import { logSecurity } from './logs.js';

const QUARTER = 15 * MINUTE;
/** Mails to people who sign up, from one address. */
const SIGN_UPS = { most: 10, within: HOUR };
/** Forms from one address, without a session. */
const BY_ADDRESS = { most: 60, within: QUARTER };
/** Attempts at one account. All unknown browsers share a limit; each known browser has its own. */
const BY_ACCOUNT = { most: 10, within: QUARTER };
/** Forms of one signed-in person. Nobody sends more by hand. */
const BY_PERSON = { most: 30, within: MINUTE };

const GUESSES = {
  /** Guesses the password of the account that the form names. */
  'sign-in': 'attempts to sign in to one account',
  /** Requests a mail to the account that the form names. */
  reset: 'requests for a new password of one account',
  /** Guesses the password of the account whose mailed link the form has, unless somebody is signed in. */
  link: 'attempts at the password of one account',
  /** Guesses the password of the account that is signed in. */
  password: 'attempts at the password of one account',
} as const;

export type Guess = keyof typeof GUESSES;

interface Bucket extends AttemptLimit {
  readonly subject: string;
  /** The counted requests, in words. */
  readonly what: string;
  readonly isOfPasswords?: boolean;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The counter of this password guess, which is counted before the password is checked. */
    guess: string | undefined;
  }
}

/** Limits the forms of one sender: the account if the sender is signed in, otherwise the address. */
@Injectable()
export class Attempts {
  constructor(
    private readonly limitAttempts: LimitAttempts,
    private readonly devices: Devices,
    private readonly changeAddress: ChangeAddress,
    private readonly findAccount: FindAccount,
  ) {}

  /**
   * @param account the signed-in account; undefined on public pages.
   * @throws TooManyAttempts
   */
  async count(request: FastifyRequest, account: Account | undefined, kind: Guess | undefined): Promise<void> {
    const [sender, guess] = await this.bucketsOf(request, account, kind);
    const refusal = await this.countIn(sender);
    if (refusal !== undefined) throw refusal;
    if (guess === undefined) return;
    const lockOut = await this.countIn(guess);
    if (lockOut !== undefined) {
      // The limit of the sender comes first, so it bounds these lines.
      if (kind !== 'reset') logSecurity(request, 'locked_out', account ?? (await this.accountNamed(request)));
      throw lockOut;
    }
    request.guess = guess.subject;
  }

  /** @throws TooManyAttempts */
  async countSignUp({ ip }: FastifyRequest): Promise<void> {
    const subject = `sign-up ${networkOf(ip)}`;
    const refusal = await this.countIn({ subject, what: 'sign-ups from your network address', ...SIGN_UPS });
    if (refusal !== undefined) throw refusal;
  }

  /** The password was right, so the attempt isn't counted. */
  async forgive({ guess }: FastifyRequest): Promise<void> {
    if (guess !== undefined) await this.limitAttempts.refund(guess);
  }

  /** Resets an account's counters, so that earlier attempts by strangers don't delay its owner. */
  async clear({ id, email }: Account): Promise<void> {
    const address = canonicalAddress(email, domainToASCII);
    await this.limitAttempts.clear([`sign-in ${address}`, `reset ${address}`, `password ${id}`]);
  }

  /** The account whose address or mailed link the form has. */
  async accountNamed({ body }: FastifyRequest): Promise<Pick<Account, 'id'> | undefined> {
    const { email, token } = fields(body, 'email', 'token');
    if (token === '') return this.findAccount.execute(email);
    const id = await this.changeAddress.findAccount({ token: token.trim() });
    return id && { id };
  }

  private async countIn({ subject, what, most, within, isOfPasswords }: Bucket): Promise<TooManyAttempts | undefined> {
    const wait = await this.limitAttempts.execute(subject, { most, within });
    if (wait === undefined) return undefined;
    const limit = `${most} ${what} in ${within === MINUTE ? 'a minute' : `${within / MINUTE} minutes`}`;
    return new TooManyAttempts(Math.max(1, Math.ceil(wait / SECOND)), limit, isOfPasswords);
  }

  private async bucketsOf(
    request: FastifyRequest,
    account: Account | undefined,
    kind: Guess | undefined,
  ): Promise<readonly [sender: Bucket, guess?: Bucket]> {
    if (kind === 'sign-in' || kind === 'reset') {
      const email = readTypedAddress(fields(request.body, 'email').email);
      if (email === undefined) return [byAddress(request)];
      const device = await this.devices.recognise(request, email);
      if (device === undefined) return [byAddress(request), byAccount(kind, canonicalAddress(email, domainToASCII))];
      // A right password costs a hash too, so it counts against the account's limit.
      return [byPerson(device.accountId), byAccount(kind, `${device.accountId} ${device.nonce}`)];
    }
    if (kind === 'link' && request.person === undefined) {
      const named = await this.accountNamed(request);
      return named === undefined ? [byAddress(request)] : [byAddress(request), byAccount('password', String(named.id))];
    }
    if (account === undefined) return [byAddress(request)];
    return kind === undefined ? [byPerson(account.id)] : [byPerson(account.id), byAccount(kind, String(account.id))];
  }
}

function byAddress({ ip }: FastifyRequest): Bucket {
  return { subject: `address ${networkOf(ip)}`, what: 'forms from your network address', ...BY_ADDRESS };
}

function byAccount(kind: Guess, subject: string): Bucket {
  return { subject: `${kind} ${subject}`, what: GUESSES[kind], isOfPasswords: kind !== 'reset', ...BY_ACCOUNT };
}

function byPerson(id: AccountId): Bucket {
  return { subject: `person ${id}`, what: 'forms of your account', ...BY_PERSON };
}
