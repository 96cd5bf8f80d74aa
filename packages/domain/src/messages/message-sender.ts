import type { ClaimedMessage } from './message-queue.js';

/** Port: delivers messages to the store. */
export interface MessageSender {
  /**
   * Resolves once the message is delivered, within `timeout` milliseconds.
   *
   * @throws Error if delivery isn't certain. The message may then be sent again, so each delivery carries its id.
   */
  send(message: ClaimedMessage, timeout: number): Promise<void>;
}
