import type { SystemPorts } from '../kernel/ports.js';
import type { AccountRepository } from './account-repository.js';
import type { Deployment } from './deployment.js';

export interface AccountPorts extends SystemPorts {
  readonly accounts: AccountRepository;
  readonly deployment: Deployment;
}
