import type { AccountRepository } from '../accounts/account-repository.js';
import type { ApiKeyRepository } from '../accounts/keys/api-key-repository.js';
import type { SystemPorts } from '../kernel/ports.js';
import type { RequestCounter } from './request-counter.js';
import type { RequestRecords } from './request-records.js';

export interface LimitPorts extends SystemPorts {
  readonly accounts: AccountRepository;
  readonly apiKeys: ApiKeyRepository;
  readonly requests: RequestCounter;
  readonly requestRecords: RequestRecords;
}

export interface LimitOptions {
  /** Requests without a valid key that an address may send in a minute. */
  readonly addressLimit: number;
}
