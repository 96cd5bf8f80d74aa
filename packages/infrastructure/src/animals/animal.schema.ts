import { type Animal, animalNameKey, type NewAnimal } from '@adoption-store/domain';
import { EntitySchema } from 'typeorm';
import { type ColumnsOf, int64Column, optionalColumn } from '../database/columns.js';

export type AnimalRow = Animal & {
  /** The domain's `animalNameKey` of the name. Not selected by default. */
  readonly nameKey?: string;
};

export const animalSchema = new EntitySchema<AnimalRow>({
  name: 'Animal',
  tableName: 'animals',
  columns: {
    id: { type: 'bigint', primary: true, generated: 'increment', transformer: int64Column },
    name: { type: 'text' },
    categoryId: { name: 'category_id', type: 'bigint', transformer: int64Column },
    status: { type: 'text' },
    nameKey: {
      name: 'name_key',
      type: 'text',
      collation: 'C',
      nullable: true,
      select: false,
      transformer: optionalColumn,
    },
  } satisfies ColumnsOf<AnimalRow>,
});

/** What is stored of an animal, apart from its id. */
export function rowOf({ name, categoryId, status }: NewAnimal) {
  return { name, categoryId, status, nameKey: animalNameKey(name) } satisfies Omit<AnimalRow, 'id'>;
}
