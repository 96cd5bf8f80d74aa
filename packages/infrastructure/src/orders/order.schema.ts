import type { Order } from '@adoption-store/domain';
import { EntitySchema } from 'typeorm';
import { instantColumn, int64Column } from '../database/columns.js';

export const orderSchema = new EntitySchema<Order>({
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
  // No foreign key to the animal: it may be withdrawn, and its earlier orders stay.
  foreignKeys: [
    {
      name: 'orders_account_id_fkey',
      target: 'Account',
      columnNames: ['accountId'],
      referencedColumnNames: ['id'],
    },
  ],
  checks: [{ name: 'orders_status_check', expression: "status IN ('placed', 'completed', 'cancelled', 'expired')" }],
  indices: [
    {
      name: 'orders_live_by_animal',
      columns: ['animalId'],
      unique: true,
      where: "status IN ('placed', 'completed')",
    },
    { name: 'orders_by_account', columns: ['accountId', 'id'] },
    { name: 'orders_by_account_and_status', columns: ['accountId', 'status', 'id'] },
    { name: 'orders_by_expiry', columns: ['createdAt', 'id'], where: "status = 'placed'" },
  ],
});
