import type { AccountMessage, Instant, Message } from '@adoption-store/domain';
import { EntitySchema } from 'typeorm';
import { accountFrom, type AccountRow } from '../accounts/account.schema.js';
import { instantColumn, int64Column, optionalColumn } from '../database/columns.js';
import type { Writable } from '../kernel/writable.js';

export type MessageRow = Writable<Message> & {
  /** The number of claims so far; it identifies the latest claim. */
  claims: number;
  failures: number;
  /** When the message is due. While it is claimed: when the claim expires. */
  dueAt: Instant;
  account?: AccountRow;
};

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
    traceparent: { type: 'text', nullable: true, transformer: optionalColumn },
    requestId: { name: 'request_id', type: 'text', nullable: true, transformer: optionalColumn },
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
