import type { AccountRepository } from '../accounts/account-repository.js';
import type { SystemPorts } from '../kernel/ports.js';
import type { MessageQueue } from './message-queue.js';
import type { MessageSender } from './message-sender.js';

export interface MessagePorts extends SystemPorts {
  readonly accounts: AccountRepository;
  readonly messages: MessageQueue;
  readonly messageSender: MessageSender;
}
