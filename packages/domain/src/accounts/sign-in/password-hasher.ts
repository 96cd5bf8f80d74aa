import { type Password, passwordFrom } from './password.js';

/** Port: one-way hashes of passwords, slow on purpose. */
export interface PasswordHasher {
  /** The hash contains a new random salt and the parameters. */
  hash(password: Password): Promise<string>;
  /** Whether the hash belongs to the password. Without a hash it returns false, after the same time. */
  verify(password: Password, hash: string | undefined): Promise<boolean>;
  /** Whether the hash was made with other parameters than `hash` uses now. */
  isOutdated(hash: string): boolean;
}

/** Whether the text is the password of that hash. A text that can't be a password costs no verification. */
export async function isPassword(hasher: PasswordHasher, text: string, hash: string | undefined): Promise<boolean> {
  const password = passwordFrom(text);
  return password !== undefined && hash !== undefined && hasher.verify(password, hash);
}
