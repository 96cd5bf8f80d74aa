import type { AccountMailPages } from '../mails/account-mail.js';
import type { AccountMailPorts } from '../mails/ports.js';
import type { Scopes } from '../scope.js';
import type { CommonPasswords } from './common-passwords.js';
import type { CredentialRepository } from './credential-repository.js';
import type { PasswordHasher } from './password-hasher.js';

export interface HolderPorts extends AccountMailPorts {
  readonly credentials: CredentialRepository;
  readonly passwordHasher: PasswordHasher;
  readonly commonPasswords: CommonPasswords;
}

export interface HolderOptions {
  /** The pages that mailed links open. Without them passwords can't be reset and addresses can't be proven. */
  readonly accountMailPages: AccountMailPages | undefined;
  /** The scopes of accounts that sign up themselves. Default: all. */
  readonly signupScopes: Scopes;
}
