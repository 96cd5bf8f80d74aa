import type { AccountRepository } from '../accounts/account-repository.js';
import type { SystemPorts } from '../kernel/ports.js';
import type { MessageQueue } from './message-queue.js';
import type { MessageSender } from './message-sender.js';

export interface MessageOptions {
  /** Messages of an account that may be queued at the same time. */
  readonly messageLimit: number;
}

export interface MessagePorts extends SystemPorts {
  readonly accounts: AccountRepository;
  readonly messages: MessageQueue;
  readonly messageSender: MessageSender;
}
