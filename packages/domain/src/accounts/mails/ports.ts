import type { SystemPorts } from '../../kernel/ports.js';
import type { AttemptCounter } from '../attempt-counter.js';
import type { AccountMailQueue } from './account-mail-queue.js';
import type { AccountMailSender } from './account-mail-sender.js';

export interface AccountMailPorts extends SystemPorts {
  readonly attempts: AttemptCounter;
  readonly accountMails: AccountMailQueue;
  readonly accountMailSender: AccountMailSender;
}
