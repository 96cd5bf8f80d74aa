import {
  type AccountId,
  type AnimalId,
  instant,
  type Order,
  type OrderId,
  type OrderStatus,
} from '@adoption-store/domain';
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
});

/** A row as the driver gives it, where the statement is our own and TypeORM restores nothing. */
export interface OrderRow {
  readonly id: string;
  readonly account_id: string;
  readonly animal_id: string;
  readonly status: OrderStatus;
  readonly created_at: Date;
  readonly updated_at: Date;
}

export function orderFrom({ id, account_id, animal_id, status, created_at, updated_at }: OrderRow): Order {
  return {
    id: BigInt(id) as OrderId,
    accountId: BigInt(account_id) as AccountId,
    animalId: BigInt(animal_id) as AnimalId,
    status,
    createdAt: instant(created_at.getTime()),
    updatedAt: instant(updated_at.getTime()),
  };
}
