import fastJson, { type ArraySchema, type ObjectSchema } from 'fast-json-stringify';

export type JsonSchema = ArraySchema | ObjectSchema;

/**
 * Writes objects as the schema has them and nothing else of them; bigints as integers, digit by digit.
 *
 * @returns what throws where an object lacks what the schema requires.
 */
export function serialiser(schema: JsonSchema): (object: object) => string {
  return fastJson(schema) as (object: object) => string;
}
