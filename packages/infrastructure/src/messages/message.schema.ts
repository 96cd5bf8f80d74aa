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
  checks: [
    { name: 'messages_text_check', expression: 'char_length(text) BETWEEN 1 AND 4096' },
    { name: 'messages_status_check', expression: "status IN ('queued', 'sent', 'failed')" },
    { name: 'messages_claims_check', expression: 'claims >= 0' },
    { name: 'messages_failures_check', expression: 'failures >= 0' },
  ],
  indices: [
    { name: 'messages_due', columns: ['dueAt'], where: "status = 'queued'" },
    { name: 'messages_by_account', columns: ['accountId', 'createdAt', 'id'] },
    { name: 'messages_failed', columns: ['createdAt', 'id'], where: "status = 'failed'" },
    { name: 'messages_settled', columns: ['createdAt'], where: "status <> 'queued'" },
  ],
});

export function messageFrom({ id, accountId, text, status, createdAt }: MessageRow): Message {
  return { id, accountId, text, status, createdAt };
}

export function accountMessageFrom({ account, id, accountId, status, createdAt }: MessageRow): AccountMessage[] {
  return account === undefined
    ? []
    : [{ account: accountFrom(account), message: { id, accountId, status, createdAt } }];
}
