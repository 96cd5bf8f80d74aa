import type { Fields } from '../animals/animal.js';
import type { Message } from '../messages/message.js';
import { isoTime, jsonText } from './json.js';

/** A message as its account sees it. A new field of messages is shown, or named here among those that aren't. */
export type MessageJson = Readonly<
  Omit<Message, 'accountId' | 'text' | 'createdAt' | 'traceparent' | 'requestId'> & {
    message: string;
    createdAt: string;
  }
>;

export function messageJson({ id, text: message, status, createdAt }: Message): MessageJson {
  return { id, message, status, createdAt: isoTime(createdAt) } satisfies Fields<MessageJson>;
}

export function messageJsonText(message: Message): string {
  return jsonText(messageJson(message));
}
