import type { AccountPorts } from '../ports.js';
import type { ApiKeyRepository } from './api-key-repository.js';
import type { KeyEnvironment } from './api-key-text.js';
import type { KeyBans } from './key-bans.js';

export interface KeyPorts extends AccountPorts {
  readonly apiKeys: ApiKeyRepository;
  readonly requests: KeyBans;
}

export interface KeyOptions {
  /** The environment whose keys this deployment issues and accepts. */
  readonly keyEnvironment: KeyEnvironment;
}
