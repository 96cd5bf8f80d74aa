import {
  type Account,
  type AccountId,
  type AttemptLimit,
  LimitAttempts,
  MINUTE,
  readEmailAddress,
  SECOND,
} from '@adoption-store/domain';
import { type CanActivate, type ExecutionContext, HttpException, HttpStatus, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { normalizeIp } from '@nestjs/throttler';
import type { FastifyRequest } from 'fastify';
import { Devices } from './devices.js';
import { fields } from './forms.js';
import { accountOf, isPublic } from './signed-in.guard.js';

const QUARTER = 15 * MINUTE;
/** Forms from one address, without a session. */
const BY_ADDRESS = { most: 60, within: QUARTER };
/** Attempts at one account: all unknown browsers together, and each known browser by itself. */
const BY_ACCOUNT = { most: 10, within: QUARTER };
/** Forms of one signed-in person. Nobody sends more by hand. */
const BY_PERSON = { most: 30, within: MINUTE };

/** The counted requests of an account, in words. */
const GUESSES = {
  /** Guesses the password of the account that the form names. */
  'sign-in': 'attempts to sign in to one account',
  /** Has mail sent to the account that the form names. */
  reset: 'requests for a new password of one account',
  /** Guesses the password of the account that is signed in. */
  password: 'attempts at the password of one account',
} as const;

type Guess = keyof typeof GUESSES;

/** Marks a form that has a limit besides those of its address and its account, or is never refused. */
export const CountsAs = Reflector.createDecorator<Guess | 'uncounted'>();

interface Bucket extends AttemptLimit {
  readonly subject: string;
  /** The counted requests, in words. */
  readonly what: string;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The counter of this password guess, which is counted before the password is checked. */
    guess: string | undefined;
  }
}

export class TooManyAttempts extends HttpException {
  /** @param limit the limit, such as `10 attempts to sign in to one account in 15 minutes`. */
  constructor(
    readonly seconds: number,
    readonly limit: string,
  ) {
    super('too many attempts', HttpStatus.TOO_MANY_REQUESTS);
  }
}

/** Counts every form before it is processed: by account if the sender is signed in, otherwise by address. */
@Injectable()
export class FormThrottlerGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly limitAttempts: LimitAttempts,
    private readonly devices: Devices,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    if (request.method !== 'POST') return true;
    const attempt = this.reflector.get(CountsAs, context.getHandler());
    if (attempt === 'uncounted') return true;
    const [sender, guess] = await this.bucketsOf(request, attempt, isPublic(this.reflector, context));
    for (const { subject, what, most, within } of guess === undefined ? [sender] : [sender, guess]) {
      const wait = await this.limitAttempts.execute(subject, { most, within });
      if (wait === undefined) continue;
      const limit = `${most} ${what} in ${within === MINUTE ? 'a minute' : `${within / MINUTE} minutes`}`;
      throw new TooManyAttempts(Math.max(1, Math.ceil(wait / SECOND)), limit);
    }
    request.guess = guess?.subject;
    return true;
  }

  /** The password was right, so the attempt isn't counted. */
  async forgive({ guess }: FastifyRequest): Promise<void> {
    if (guess !== undefined) await this.limitAttempts.refund(guess);
  }

  /** Resets an account's counters, so that earlier attempts by strangers don't delay its owner. */
  async clear({ id, email }: Account): Promise<void> {
    await this.limitAttempts.clear([`sign-in ${email}`, `reset ${email}`, `password ${id}`]);
  }

  private async bucketsOf(
    request: FastifyRequest,
    attempt: Guess | undefined,
    isVisitors: boolean,
  ): Promise<readonly [sender: Bucket, guess?: Bucket]> {
    if (attempt === 'sign-in' || attempt === 'reset') {
      const email = readEmailAddress(fields(request.body, 'email').email);
      if (email === undefined) return [byAddress(request)];
      const device = await this.devices.recognise(request, email);
      if (device === undefined) return [byAddress(request), byAccount(attempt, email)];
      // Right passwords cost a hash too, so they count against the account's own limit.
      return [byPerson(device.accountId), byAccount(attempt, `${device.accountId} ${device.nonce}`)];
    }
    if (isVisitors) return [byAddress(request)];
    const { id } = accountOf(request);
    return attempt === undefined ? [byPerson(id)] : [byPerson(id), byAccount(attempt, String(id))];
  }
}

function byAddress({ ip }: FastifyRequest): Bucket {
  return { subject: `address ${normalizeIp(ip)}`, what: 'forms from your network address', ...BY_ADDRESS };
}

function byAccount(attempt: Guess, subject: string): Bucket {
  return { subject: `${attempt} ${subject}`, what: GUESSES[attempt], ...BY_ACCOUNT };
}

function byPerson(id: AccountId): Bucket {
  return { subject: `person ${id}`, what: 'forms of your account', ...BY_PERSON };
}
