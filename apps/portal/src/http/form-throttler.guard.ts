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
import { isPublic, SignInNeeded } from './signed-in.guard.js';

const QUARTER = 15 * MINUTE;
/** Forms from one address, without a session. */
const BY_ADDRESS = { most: 60, within: QUARTER };
/** Attempts at one account: all unknown browsers together, and each known browser by itself. */
const BY_ACCOUNT = { most: 10, within: QUARTER };
/** Forms of one signed-in person. Nobody sends more by hand. */
const BY_PERSON = { most: 30, within: MINUTE };

/** How a form counts, if it has a limit besides those of its address and its account. */
type Attempt =
  /** Guesses the password of the account that the form names. */
  | 'sign-in'
  /** Has mail sent to the account that the form names. */
  | 'reset'
  /** Guesses the password of the account that is signed in. */
  | 'password'
  /** Never refused. */
  | 'uncounted';

/** Marks a form that has a special limit. */
export const CountsAs = Reflector.createDecorator<Attempt>();

interface Bucket extends AttemptLimit {
  readonly subject: string;
  /** The counted requests, in words. */
  readonly what: string;
}

/** The counted requests of an account, in words. */
const GUESSES = {
  'sign-in': 'attempts to sign in to one account',
  reset: 'requests for a new password of one account',
  password: 'attempts at the password of one account',
} as const;

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
    const attempt = this.reflector.getAllAndOverride<Attempt | undefined>(CountsAs, [
      context.getHandler(),
      context.getClass(),
    ]);
    const { buckets, guess } = await this.judge(request, attempt, isPublic(this.reflector, context));
    for (const { subject, what, most, within } of guess === undefined ? buckets : [...buckets, guess]) {
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
    if (guess !== undefined) await this.limitAttempts.takeBack(guess);
  }

  /** Resets an account's counters, so that earlier attempts by strangers don't delay its owner. */
  async clear({ id, email }: Account): Promise<void> {
    await this.limitAttempts.clear([`sign-in ${email}`, `reset ${email}`, `password ${id}`]);
  }

  private async judge(
    request: FastifyRequest,
    attempt: Attempt | undefined,
    isVisitors: boolean,
  ): Promise<{ readonly buckets: readonly Bucket[]; readonly guess?: Bucket }> {
    if (attempt === 'uncounted') return { buckets: [] };
    if (attempt === 'sign-in' || attempt === 'reset') {
      const email = readEmailAddress(fields(request.body, 'email').email);
      const device = email === undefined ? undefined : await this.devices.recognise(request, email);
      if (device !== undefined) {
        // Right passwords cost a hash too, so they count against the account's own limit.
        const subject = `${attempt} ${device.accountId} ${device.nonce}`;
        return { buckets: [byPerson(device.accountId)], guess: byAccount(attempt, subject) };
      }
      const guess = email === undefined ? undefined : byAccount(attempt, `${attempt} ${email}`);
      return { buckets: [byAddress(request)], ...(guess && { guess }) };
    }
    if (isVisitors) return { buckets: [byAddress(request)] };
    if (request.account === undefined) throw new SignInNeeded();
    const { id } = request.account;
    const guess = attempt === 'password' ? byAccount(attempt, `password ${id}`) : undefined;
    return { buckets: [byPerson(id)], ...(guess && { guess }) };
  }
}

function byAddress({ ip }: FastifyRequest): Bucket {
  return { subject: `address ${normalizeIp(ip)}`, what: 'forms from your network address', ...BY_ADDRESS };
}

function byAccount(attempt: keyof typeof GUESSES, subject: string): Bucket {
  return { subject, what: GUESSES[attempt], ...BY_ACCOUNT };
}

function byPerson(id: AccountId): Bucket {
  return { subject: `person ${id}`, what: 'forms of your account', ...BY_PERSON };
}
