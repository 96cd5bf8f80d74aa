import {
  type Account,
  type AccountId,
  type AttemptLimit,
  LimitAttempts,
  MINUTE,
  readEmailAddress,
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
export type Attempt =
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
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The counter of this password guess, which is counted before the password is checked. */
    guess: string | undefined;
  }
}

export class TooManyAttempts extends HttpException {
  constructor(readonly seconds: number) {
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
    for (const { subject, ...limit } of guess === undefined ? buckets : [...buckets, guess]) {
      const wait = await this.limitAttempts.execute(subject, limit);
      if (wait !== undefined) throw new TooManyAttempts(Math.max(1, Math.ceil(wait / 1_000)));
    }
    request.guess = guess?.subject;
    return true;
  }

  /** The password was right, so the attempt isn't counted. */
  async forgive({ guess }: FastifyRequest): Promise<void> {
    if (guess !== undefined) await this.limitAttempts.takeBack(guess);
  }

  /** Resets an account's counters, so that earlier attempts by strangers don't delay its owner. */
  async forget({ id, email }: Account): Promise<void> {
    await this.limitAttempts.forget([`sign-in ${email}`, `reset ${email}`, `password ${id}`]);
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
        const guess = { subject: `${attempt} ${device.accountId} ${device.nonce}`, ...BY_ACCOUNT };
        return { buckets: [byPerson(device.accountId)], guess };
      }
      const guess = email === undefined ? undefined : { subject: `${attempt} ${email}`, ...BY_ACCOUNT };
      return { buckets: [byAddress(request)], ...(guess && { guess }) };
    }
    if (isVisitors) return { buckets: [byAddress(request)] };
    if (request.account === undefined) throw new SignInNeeded();
    const { id } = request.account;
    const guess = attempt === 'password' ? { subject: `password ${id}`, ...BY_ACCOUNT } : undefined;
    return { buckets: [byPerson(id)], ...(guess && { guess }) };
  }
}

function byAddress({ ip }: FastifyRequest): Bucket {
  return { subject: `address ${normalizeIp(ip)}`, ...BY_ADDRESS };
}

function byPerson(id: AccountId): Bucket {
  return { subject: `person ${id}`, ...BY_PERSON };
}
