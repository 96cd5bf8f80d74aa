import {
  type Animal,
  type AnimalId,
  animalNameKey,
  type CategoryId,
  type Fields,
  type NewAnimal,
  type PetStatus,
} from '@adoption-store/domain';
import { EntitySchema } from 'typeorm';
import { type ColumnsOf, int64Column } from '../database/columns.js';

export type AnimalRow = Animal & {
  /** The domain's `animalNameKey` of the name. Not selected by default. */
  readonly nameKey: string;
};

export const animalSchema = new EntitySchema<AnimalRow>({
  name: 'Animal',
  tableName: 'animals',
  columns: {
    id: { type: 'bigint', primary: true, generated: 'increment', transformer: int64Column },
    name: { type: 'text' },
    categoryId: { name: 'category_id', type: 'bigint', transformer: int64Column },
    status: { type: 'text' },
    nameKey: { name: 'name_key', type: 'text', collation: 'C', select: false },
  } satisfies ColumnsOf<AnimalRow>,
});

/** What is stored of an animal, apart from its id. */
export function rowOf({ name, categoryId, status }: NewAnimal) {
  return { name, categoryId, status, nameKey: animalNameKey(name) } satisfies Omit<AnimalRow, 'id'>;
}

/** SQL for an animal as a line of text. The name comes last, with its line breaks escaped. */
export const ANIMAL_LINE = String.raw`concat_ws(' ', id, category_id, status, replace(replace(name, '\', '\\'), E'\n', '\n'))`;

/** SQL for all lines of a query as one value, in its order. pg reads that in a third of the time that rows would take. */
export function linesOf(select: string): string {
  return String.raw`SELECT array_to_string(ARRAY(${select}), E'\n')`;
}

/** The animals in the value of `linesOf`. Written without calls: a page has many fields. */
export function animalsIn(lines: string): readonly Animal[] {
  const animals: Animal[] = [];
  if (lines === '') return animals;
  for (const line of lines.split('\n')) {
    const categoryAt = line.indexOf(' ') + 1;
    const statusAt = line.indexOf(' ', categoryAt) + 1;
    const nameAt = line.indexOf(' ', statusAt) + 1;
    const id = line.slice(0, categoryAt - 1);
    const categoryId = line.slice(categoryAt, statusAt - 1);
    const name = line.slice(nameAt);
    // Most ids fit into a number, and converting through a number takes a third of the time.
    animals.push({
      id: (id.length < 16 ? BigInt(Number(id)) : BigInt(id)) as AnimalId,
      name: name.includes('\\') ? unescaped(name) : name,
      categoryId: (categoryId.length < 16 ? BigInt(Number(categoryId)) : BigInt(categoryId)) as CategoryId,
      status: line.slice(statusAt, nameAt - 1) as PetStatus,
    } satisfies Fields<Animal>);
  }
  return animals;
}

function unescaped(name: string): string {
  return name.replaceAll(/\\([n\\])/g, (_, escaped: string) => (escaped === 'n' ? '\n' : '\\'));
}
