import { invalid, InvalidInput } from '../../kernel/errors.js';
import { hasAtMostCodePoints, isStorable } from '../../kernel/text.js';
import type { Branded } from '../../kernel/branded.js';

/** A password in normalised form: the same text is the same password, however its characters are composed. */
export type Password = Branded<string, 'Password'>;

export const MIN_PASSWORD_LENGTH = 12;
export const MAX_PASSWORD_LENGTH = 128;
const FEWEST_CHARACTERS = 4;

const WRONG = 'is not your password';

/**
 * Common passwords that are long enough to be accepted otherwise: those among the first 4,000 of the 100,000 most used
 * that the UK's National Cyber Security Centre published, and those in NordPass' lists of 2023 and 2024. The last line
 * has similar ones.
 */
const COMMON_PASSWORDS = new Set(
  `q1w2e3r4t5y6 1qaz2wsx3edc 1q2w3e4r5t6y 1q2w3e4r5t6y7u8i9o0p qazwsxedcrfv 123qweasdzxc qwertyqwerty qwerty123456
  123456qwerty 123456654321 123456123456 112233445566 123456789123 123456789987654321 111222tianya pe#5gz29ptzmse
  sojdlg123aljg telechargement megaparol12345 polniypizdec0211 polniypizdec110211 yfdbufnjh10305070 justinbieber
  administrator admintelecom theworldinyourhand
  123456789012 1234567890123 12345678901234567890 password1234 password12345
  passwordpassword qwertyuiop12 qwertyuiop123 qwertyuiopasdfghjkl iloveyou1234 iloveyouiloveyou letmeinletmein
  correcthorsebatterystaple`.match(/\S+/g),
);

/**
 * A new password. The rules ask for length, not for kinds of characters, as NIST SP 800-63B (5.1.1.2) advises.
 *
 * @param field the field to name in the error.
 * @throws DomainError `invalid_parameter`, naming the rule.
 */
export function newPassword(text: string, email: string, field = 'password'): Password {
  const password = passwordFrom(text);
  if (password === undefined) {
    throw invalid(field, `must be at most ${MAX_PASSWORD_LENGTH} characters, without U+0000 or a lone surrogate`);
  }
  if (hasAtMostCodePoints(password, MIN_PASSWORD_LENGTH - 1)) {
    throw invalid(field, `must be at least ${MIN_PASSWORD_LENGTH} characters`);
  }
  if (password.trim() === '') throw invalid(field, 'must not be only white space');
  const folded = password.toLowerCase();
  if (folded === email.normalize('NFKC').toLowerCase()) throw invalid(field, 'must not be the e-mail address');
  if (COMMON_PASSWORDS.has(folded) || new Set(password).size < FEWEST_CHARACTERS)
    throw invalid(field, 'is too common. Choose another');
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
