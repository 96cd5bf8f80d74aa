import type { Password } from './password.js';

/** Port: one-way hashes of passwords, slow on purpose. */
export interface PasswordHasher {
  /** Another one each time; it carries its salt and its parameters. */
  hash(password: Password): Promise<string>;
  /** Whether the hash is the password's. Without a hash it isn't, which takes as long to find out. */
  verify(password: Password, hash: string | undefined): Promise<boolean>;
  /** Whether the hash was made with other parameters than `hash` takes now. */
  isOutdated(hash: string): boolean;
}
