import type { AccountPorts } from '../ports.js';
import type { AccountMailPorts } from '../mails/ports.js';
import type { Scopes } from '../scope.js';
import type { CommonPasswords } from './common-passwords.js';
import type { CredentialRepository } from './credential-repository.js';
import type { PasswordHasher } from './password-hasher.js';

export interface HolderPorts extends AccountMailPorts, Pick<AccountPorts, 'deployment'> {
  readonly credentials: CredentialRepository;
  readonly passwordHasher: PasswordHasher;
  readonly commonPasswords: CommonPasswords;
}

export interface HolderOptions {
  /** Whether people may sign up without a proof of their address, as long as no worker can send mail. Default: no. */
  readonly opensUnproven: boolean;
  /** The scopes of accounts that sign up themselves. Default: all. */
  readonly signupScopes: Scopes;
}
