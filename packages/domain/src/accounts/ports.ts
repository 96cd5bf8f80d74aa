import type { SystemPorts } from '../kernel/ports.js';
import type { AccountRepository } from './account-repository.js';

export interface AccountPorts extends SystemPorts {
  readonly accounts: AccountRepository;
}

export interface AccountOptions {
  /** Whether addresses are proven by mail, by this process or another. Default: whether `accountMailPages` is given. */
  readonly provesAddresses: boolean;
}
