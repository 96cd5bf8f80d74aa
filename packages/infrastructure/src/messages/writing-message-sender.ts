import type { ClaimedMessage, MessageSender } from '@adoption-store/domain';

/** Delivers by writing the message down, such as into a log. */
export class WritingMessageSender implements MessageSender {
  constructor(private readonly write: (message: ClaimedMessage) => void) {}

  async send(message: ClaimedMessage): Promise<void> {
    this.write(message);
  }
}
