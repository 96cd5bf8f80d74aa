import type { Password } from '../accounts/sign-in/password.js';
import type { PasswordHasher } from '../accounts/sign-in/password-hasher.js';

/** Hashes for tests only: fast, and not secret. */
export class PredictablePasswordHasher implements PasswordHasher {
  /** The hash parameters' version. */
  generation = 1;
  /** Verifications that a real hasher would have computed. */
  verifications = 0;
  private made = 0;

  async hash(password: Password): Promise<string> {
    this.made += 1;
    return `${this.generation}$${this.made}$${password}`;
  }

  async verify(password: Password, hash: string | undefined): Promise<boolean> {
    this.verifications += 1;
    return hash?.replace(/^\d+\$\d+\$/, '') === password;
  }

  isOutdated(hash: string): boolean {
    return !hash.startsWith(`${this.generation}$`);
  }
}
