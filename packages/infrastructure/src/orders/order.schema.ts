import type { AccountOrder, Order } from '@adoption-store/domain';
import { EntitySchema } from 'typeorm';
import { accountFrom, type AccountRow } from '../accounts/account.schema.js';
import { instantColumn, int64Column } from '../database/columns.js';

export type OrderRow = Order & { readonly account?: AccountRow };

export const orderSchema = new EntitySchema<OrderRow>({
  name: 'Order',
  tableName: 'orders',
  columns: {
    id: { type: 'bigint', primary: true, generated: 'increment', transformer: int64Column },
    accountId: { name: 'account_id', type: 'bigint', transformer: int64Column },
    animalId: { name: 'animal_id', type: 'bigint', transformer: int64Column },
    status: { type: 'text' },
    createdAt: { name: 'created_at', type: 'timestamptz', transformer: instantColumn },
    updatedAt: { name: 'updated_at', type: 'timestamptz', transformer: instantColumn },
  },
  relations: {
    account: {
      type: 'many-to-one',
      target: 'Account',
      nullable: false,
      joinColumn: { name: 'account_id', foreignKeyConstraintName: 'orders_account_id_fkey' },
    },
  },
});

export function accountOrderFrom({ account, ...order }: OrderRow): AccountOrder[] {
  return account === undefined ? [] : [{ account: accountFrom(account), order }];
}
