import type { SystemPorts } from '../kernel/ports.js';
import type { AccountMailPages } from './mails/account-mail.js';
import type { AccountMailQueue } from './mails/account-mail-queue.js';
import type { AccountMailSender } from './mails/account-mail-sender.js';
import type { AccountRepository } from './account-repository.js';
import type { ApiKeyRepository } from './keys/api-key-repository.js';
import type { KeyEnvironment } from './keys/api-key-text.js';
import type { AttemptCounter } from './attempt-counter.js';
import type { CredentialRepository } from './sign-in/credential-repository.js';
import type { KeyBans } from './keys/key-bans.js';
import type { PasswordHasher } from './sign-in/password-hasher.js';
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
