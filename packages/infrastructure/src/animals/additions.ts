import { PET_JSON_FIELDS } from '@adoption-store/domain';
import { Columns } from '../database/columns.js';
import { type AnimalRow, animalSchema } from './animal.schema.js';

export const columns = new Columns<AnimalRow>(animalSchema);

/** SQL that stores the event of each added animal, in the order of the rows, with the text of `petJsonText`. */
export function storeAdditions(rows: string): string {
  return `
    INSERT INTO event_outbox (type, data)
    SELECT 'pet.added', ${columns.jsonOf('shown')} FROM (SELECT ${columns.listNamed(PET_JSON_FIELDS)} FROM ${rows}) AS shown`;
}
