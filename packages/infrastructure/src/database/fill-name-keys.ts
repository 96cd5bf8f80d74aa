import { animalNameKey } from '@adoption-store/domain';
import type { QueryRunner } from 'typeorm';

/** Rows in one statement. */
const PORTION = 1_000;

// Ordered as the index, so that it is used however many animals there are.
const READ = `
  SELECT id, name FROM animals WHERE name_key IS NULL AND id > $1 ORDER BY name_key, id LIMIT ${PORTION}`;

const FILL = `
  UPDATE animals SET name_key = ($3::text[])[array_position($1::bigint[], id)]
  WHERE id = ANY($1::bigint[]) AND name = ($2::text[])[array_position($1::bigint[], id)] AND name_key IS NULL`;

/** Fills `name_key` of the animals that have none: those that are older than the column, or were added by hand. */
export async function fillNameKeys(runner: QueryRunner): Promise<void> {
  for (let last: string | undefined = '-9223372036854775808'; last !== undefined;) {
    const rows = (await runner.query(READ, [last])) as readonly { readonly id: string; readonly name: string }[];
    const names = rows.map(({ name }) => name);
    if (rows.length > 0) await runner.query(FILL, [rows.map(({ id }) => id), names, names.map(animalNameKey)]);
    last = rows.at(-1)?.id;
  }
}
