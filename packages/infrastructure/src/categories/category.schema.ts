import type { Category } from '@adoption-store/domain';
import { EntitySchema } from 'typeorm';
import { int64Column } from '../database/columns.js';

export type CategoryRow = Category & {
  /** The domain's `nameKey` of the name. Compared in NFC. Not selected by default. */
  readonly nameKey?: string;
};

export const categorySchema = new EntitySchema<CategoryRow>({
  name: 'Category',
  tableName: 'categories',
  columns: {
    id: { type: 'bigint', primary: true, transformer: int64Column },
    name: { type: 'text' },
    nameKey: { name: 'name_key', type: 'text', select: false },
  },
});
