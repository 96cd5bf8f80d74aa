import { invalid, InvalidInput } from '../../kernel/errors.js';
import { hasAtMostCodePoints, isStorable } from '../../kernel/text.js';
import type { Branded } from '../../kernel/branded.js';

/** A password in normalised form: the same text is the same password, however its characters are composed. */
export type Password = Branded<string, 'Password'>;

export const MIN_PASSWORD_LENGTH = 12;
export const MAX_PASSWORD_LENGTH = 128;

const WRONG = 'is not your password';

/**
 * A new password. The rules ask for length, not for kinds of characters, as NIST SP 800-63B (5.1.1.2) advises.
 *
 * @param isGuessable the answer of the function of that name.
 * @param field the field to name in the error.
 * @throws DomainError `invalid_parameter`, naming the rule.
 */
export function newPassword(text: string, isGuessable: boolean, field = 'password'): Password {
  const password = passwordFrom(text);
  if (password === undefined)
    throw invalid(field, `must be at most ${MAX_PASSWORD_LENGTH} characters, without U+0000 or a lone surrogate`);
  if (hasAtMostCodePoints(password, MIN_PASSWORD_LENGTH - 1))
    throw invalid(field, `must be at least ${MIN_PASSWORD_LENGTH} characters`);
  if (password.trim() === '') throw invalid(field, 'must not be only white space');
  if (isGuessable) throw invalid(field, 'is too common, or too close to your address or our name. Choose another');
  return password;
}

/**
 * A check for `checkAll`, so that a wrong password is reported together with the problems of other fields.
 *
 * @throws DomainError `invalid_parameter`
 */
export function requireRight(isRight: boolean, field: string): void {
  if (!isRight) throw invalid(field, WRONG);
}

/** Whether `requireRight` refused the password, perhaps together with other fields. */
export function isWrongPassword(error: unknown): boolean {
  return error instanceof InvalidInput && error.problems.some(({ rule }) => rule === WRONG);
}

/** A password to check. Undefined if the text can't be a password. */
export function passwordFrom(text: string): Password | undefined {
  if (!hasAtMostCodePoints(text, MAX_PASSWORD_LENGTH) || !isStorable(text)) return undefined;
  return text.normalize('NFKC') as Password;
}
