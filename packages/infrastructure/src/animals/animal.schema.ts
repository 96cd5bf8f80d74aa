import type { Animal } from '@adoption-store/domain';
import { EntitySchema } from 'typeorm';
import { type ColumnsOf, int64Column } from '../database/columns.js';

export const animalSchema = new EntitySchema<Animal>({
  name: 'Animal',
  tableName: 'animals',
  columns: {
    id: { type: 'bigint', primary: true, generated: 'increment', transformer: int64Column },
    name: { type: 'text' },
    categoryId: { name: 'category_id', type: 'bigint', transformer: int64Column },
    status: { type: 'text' },
  } satisfies ColumnsOf<Animal>,
});
