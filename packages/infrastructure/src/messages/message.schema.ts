import type { AccountId, Instant, Message, MessageId, MessageStatus } from '@adoption-store/domain';
import { EntitySchema } from 'typeorm';
import { instantColumn, int64Column } from '../database/columns.js';

export interface MessageRow {
  id: MessageId;
  accountId: AccountId;
  text: string;
  status: MessageStatus;
  /** Claims so far: the number of the newest. */
  claims: number;
  failures: number;
  /** While the message is claimed, when the claim runs out. */
  dueAt: Instant;
  createdAt: Instant;
  traceparent: string | null;
}

export const messageSchema = new EntitySchema<MessageRow>({
  name: 'Message',
  tableName: 'messages',
  columns: {
    id: { type: 'text', primary: true },
    accountId: { name: 'account_id', type: 'bigint', transformer: int64Column },
    text: { type: 'text' },
    status: { type: 'text' },
    claims: { type: 'integer' },
    failures: { type: 'integer' },
    dueAt: { name: 'due_at', type: 'timestamptz', transformer: instantColumn },
    createdAt: { name: 'created_at', type: 'timestamptz', transformer: instantColumn },
    traceparent: { type: 'text', nullable: true },
  },
});

export function messageFrom({ id, accountId, text, status, createdAt }: MessageRow): Message {
  return { id, accountId, text, status, createdAt };
}
