import type { AccountId } from '../../accounts/account.js';
import { SECOND } from '../../kernel/clock.js';
import type { MessageId } from '../../messages/message.js';
import type { ClaimedMessage } from '../../messages/message-queue.js';
import type { MessageSender } from '../../messages/message-sender.js';
import { atOnce, NOON, openBefore, present, race, Unique } from './fixtures.js';
import type { TestFramework } from './framework.js';
import { TEXTS } from './samples.js';

/** A message as the store finds it. */
interface ReceivedMessage {
  readonly id: string;
  /** The address of its author. */
  readonly from: string;
  readonly text: string;
}

export interface OpenedMessageSender {
  readonly sender: MessageSender;
  /** All messages that have arrived. */
  received(): readonly ReceivedMessage[];
  /** Whether the store refuses messages from now on. */
  refuseMessages(areRefused: boolean): void;
  close(): Promise<void>;
}

const TIMEOUT = 5 * SECOND;

/** Texts in which a protocol of mails could find a part of itself. */
const MAIL_TEXTS = [
  'a\r\n.\r\nb',
  '.a\r\n..b\r\n...c',
  '\r\n.\r\nQUIT\r\n',
  'a\nb\r\nc\rd\n\ne\r\n',
  '\n',
  ' a \t\n b  ',
  'a'.repeat(4_096),
  '🐈'.repeat(4_096),
  '=20=\r\n=?utf-8?q?a?=',
  'Subject: another\r\n\r\n--boundary--\r\nFrom me',
  '\u0001\u001b[2J\u202e\ufeff\u2028',
];

/** The guarantees of every `MessageSender`. */
export function messageSenderSuite(
  framework: TestFramework,
  name: string,
  open: () => Promise<OpenedMessageSender>,
): void {
  const { describe, it, expect } = framework;
  describe(`a message sender (${name})`, () => {
    const unique = new Unique();
    let opened: OpenedMessageSender;
    openBefore(framework, open, (adapters) => {
      opened = adapters;
    });

    const newMessage = (text = 'Hello'): ClaimedMessage => ({
      id: unique.name() as MessageId,
      accountId: 1n as AccountId,
      text,
      createdAt: NOON,
      number: 1,
      failures: 0,
      from: 'dev@example.com',
      isProven: true,
    });
    const receivedOf = ({ id }: ClaimedMessage) => opened.received().filter((each) => each.id === id);
    const expectDelivered = async (message: ClaimedMessage) => {
      await opened.sender.send(message, TIMEOUT);
      const { id, from, text } = message;
      expect(receivedOf(message)).toEqual([{ id, from, text }]);
    };

    it('keeps every text exactly', async () => {
      for (const text of [...TEXTS, ...MAIL_TEXTS]) await expectDelivered(newMessage(text));
    });

    it('delivers each of many that are sent at once, once', async () => {
      const messages = await atOnce(20, async () => {
        const message = newMessage();
        await opened.sender.send(message, TIMEOUT);
        return message;
      });
      for (const message of messages) expect(receivedOf(message)).toHaveLength(1);
    });

    it('rejects each message that is refused, and delivers the next', async () => {
      opened.refuseMessages(true);
      const refused = [newMessage(), newMessage()];
      const { reasons } = await race(2, (index) => opened.sender.send(present(refused[index]), TIMEOUT));
      expect(reasons).toHaveLength(2);
      expect(refused.flatMap(receivedOf)).toEqual([]);
      opened.refuseMessages(false);
      await expectDelivered(newMessage());
    });
  });
}
