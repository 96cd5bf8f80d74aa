import type { AccountId, AccountMessage, Instant, Message, MessageId, MessageStatus } from '@adoption-store/domain';
import { EntitySchema } from 'typeorm';
import { accountFrom, type AccountRow } from '../accounts/account.schema.js';
import { instantColumn, int64Column } from '../database/columns.js';

export interface MessageRow {
  id: MessageId;
  accountId: AccountId;
  text: string;
  status: MessageStatus;
  /** The number of claims so far; it identifies the latest claim. */
  claims: number;
  failures: number;
  /** When the message is due. While it is claimed: when the claim expires. */
  dueAt: Instant;
  createdAt: Instant;
  traceparent: string | null;
  requestId: string | null;
  account?: AccountRow;
}

export const messageSchema = new EntitySchema<MessageRow>({
  name: 'Message',
  tableName: 'messages',
  columns: {
    id: { type: 'text', primary: true },
    accountId: { name: 'account_id', type: 'bigint', transformer: int64Column },
    text: { type: 'text' },
    status: { type: 'text' },
    claims: { type: 'integer', default: 0 },
    failures: { type: 'integer', default: 0 },
    dueAt: { name: 'due_at', type: 'timestamptz', transformer: instantColumn },
    createdAt: { name: 'created_at', type: 'timestamptz', transformer: instantColumn },
    traceparent: { type: 'text', nullable: true },
    requestId: { name: 'request_id', type: 'text', nullable: true },
  },
  relations: {
    account: {
      type: 'many-to-one',
      target: 'Account',
      nullable: false,
      joinColumn: { name: 'account_id', foreignKeyConstraintName: 'messages_account_id_fkey' },
    },
  },
});

export function messageFrom({ id, accountId, text, status, createdAt }: MessageRow): Message {
  return { id, accountId, text, status, createdAt };
}

export function accountMessageFrom({ account, id, accountId, status, createdAt }: MessageRow): AccountMessage[] {
  return account === undefined
    ? []
    : [{ account: accountFrom(account), message: { id, accountId, status, createdAt } }];
}
