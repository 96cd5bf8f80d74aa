import type { ClaimedMessage } from './message-queue.js';

/** Port: delivers messages to the store. */
export interface MessageSender {
  /**
   * Resolves once the message is delivered, within `timeout` milliseconds.
   *
   * @throws Error where it can't be said to be: it may then be sent again, so each delivery carries the message's id.
   */
  send(message: ClaimedMessage, timeout: number): Promise<void>;
}
