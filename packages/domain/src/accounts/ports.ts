import type { SystemPorts } from '../kernel/ports.js';
import type { AccountMailPages } from './account-mail.js';
import type { AccountMailQueue } from './account-mail-queue.js';
import type { AccountMailSender } from './account-mail-sender.js';
import type { AccountRepository } from './account-repository.js';
import type { ApiKeyRepository } from './api-key-repository.js';
import type { KeyEnvironment } from './api-key-text.js';
import type { AttemptCounter } from './attempt-counter.js';
import type { CredentialRepository } from './credential-repository.js';
import type { KeyBans } from './key-bans.js';
import type { PasswordHasher } from './password-hasher.js';
import type { Scopes } from './scope.js';

export interface KeyPorts extends SystemPorts {
  readonly accounts: AccountRepository;
  readonly apiKeys: ApiKeyRepository;
  readonly requests: KeyBans;
}

export interface KeyOptions {
  /** The environment whose keys this deployment issues and accepts. Default: `live`. */
  readonly keyEnvironment: KeyEnvironment;
  /** Whether addresses are proven by mail, by this process or another. Default: whether `accountMailPages` is given. */
  readonly provesAddresses: boolean;
}

export interface HolderPorts extends SystemPorts {
  readonly credentials: CredentialRepository;
  readonly attempts: AttemptCounter;
  readonly passwordHasher: PasswordHasher;
  readonly accountMails: AccountMailQueue;
  readonly accountMailSender: AccountMailSender;
}

export interface HolderOptions {
  /** The pages that mailed links open. Without them passwords can't be reset and addresses can't be proven. */
  readonly accountMailPages: AccountMailPages | undefined;
  /** The scopes of accounts that sign up themselves. Default: all. */
  readonly signupScopes: Scopes;
}
