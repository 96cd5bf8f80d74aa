import { HttpException, HttpStatus } from '@nestjs/common';

export class SignInNeeded extends Error {
  override readonly name = 'SignInNeeded';
}

/** The form's token isn't one that this browser was given for the person who is signed in now. */
export class InvalidFormToken extends Error {
  override readonly name = 'InvalidFormToken';
}

export class TooManyAttempts extends HttpException {
  /**
   * @param limit the limit, such as `10 attempts to sign in to one account in 15 minutes`.
   * @param isOfPasswords whether passwords were guessed: a reset starts that count anew.
   */
  constructor(
    readonly seconds: number,
    readonly limit: string,
    readonly isOfPasswords = false,
  ) {
    super('too many attempts', HttpStatus.TOO_MANY_REQUESTS);
  }
}
