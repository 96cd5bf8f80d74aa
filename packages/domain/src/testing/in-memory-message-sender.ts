import type { ClaimedMessage } from '../messages/message-queue.js';
import type { MessageSender } from '../messages/message-sender.js';

/** Delivers into a list. `failure` makes it fail. */
export class InMemoryMessageSender implements MessageSender {
  readonly delivered: ClaimedMessage[] = [];
  /** If set, `send` throws this. */
  failure: Error | undefined;
  /** Called during each delivery with its timeout in milliseconds. */
  whileSending: (timeout: number) => void = () => undefined;

  async send(message: ClaimedMessage, timeout: number): Promise<void> {
    this.whileSending(timeout);
    if (this.failure !== undefined) throw this.failure;
    this.delivered.push(message);
  }
}
