import { INT64_MAX, INT64_MIN, isInt64 } from '@adoption-store/domain';
import fastJson, { type ObjectSchema } from 'fast-json-stringify';
import type { Described } from './schema.js';
import type { JsonObject } from './strict-json.js';
import type { Fault } from './validation.js';

const REF = '#/components/schemas/';
const BODY_INT64 = `an integer from ${INT64_MIN} to ${INT64_MAX}, a JSON number without quotes or fraction`;

interface ObjectOf {
  readonly properties: Readonly<Record<string, Described>>;
  readonly required: readonly string[];
}

/** How the body of a request is read. */
export interface BodySchema<Body> {
  /** The name of its schema. */
  readonly name: string;
  /** The properties of that schema, in its order. */
  readonly fields: readonly string[];
  /** The body with these properties alone, and what is wrong with them. */
  readonly read: (given: JsonObject) => { readonly body: Body; readonly faults: readonly Fault[] };
}

/** What a property's value must be, and whether it is that. */
interface Rule {
  readonly must: string;
  readonly holds: (value: unknown) => boolean;
}

/** The schemas of a resource by name, as in the OpenAPI description. They also serialise, and validate bodies. */
export class ResourceSchemas {
  constructor(readonly described: Readonly<Record<string, Described>>) {}

  /**
   * Writes objects with exactly the schema's properties. Bigints are written as integers with all digits.
   *
   * @returns a function that throws if an object lacks a required property.
   */
  serialiser(name: string): (resource: object) => string {
    return fastJson(this.written(name));
  }

  listSerialiser(name: string): (resources: readonly object[]) => string {
    return fastJson({ type: 'array', items: this.written(name) }) as (resources: readonly object[]) => string;
  }

  /** Reads bodies, and validates them by the schema. `Body` has the schema's properties. */
  body<Body>(name: string): BodySchema<Body> {
    const { properties, required } = this.objectOf(name);
    const rules = Object.entries(properties).map(([field, schema]) => {
      const { must, holds } = ruleOf(field, schema);
      const isRequired = required.includes(field);
      const isNullable = [schema['type']].flat().includes('null');
      const faultOf = (value: unknown) => {
        if (isRequired && (value === undefined || value === null)) return `${field} is required`;
        return value === undefined || (value === null && isNullable) || holds(value) ? undefined : `${field} ${must}`;
      };
      return { field, faultOf };
    });
    const read = (given: JsonObject) => {
      const body: Record<string, unknown> = {};
      const faults: Fault[] = [];
      for (const { field, faultOf } of rules) {
        const value = given[field];
        if (value !== undefined) body[field] = value;
        const message = faultOf(value);
        if (message !== undefined) faults.push({ property: field, message, kept: message });
      }
      return { body: body as Body, faults };
    };
    return { name, fields: Object.keys(properties), read };
  }

  namesOf(name: string): readonly string[] {
    return Object.keys(this.objectOf(name).properties);
  }

  private written(name: string): ObjectSchema {
    const { properties, required } = this.objectOf(name);
    const types = Object.entries(properties).map(([field, { type }]) => [field, { type }]);
    return { type: 'object', required: [...required], properties: Object.fromEntries(types) as Record<string, object> };
  }

  private objectOf(name: string): ObjectOf {
    const { properties, required = [] } = this.resolved({ $ref: `${REF}${name}` }) as unknown as Partial<ObjectOf>;
    const fields = Object.entries(properties ?? {}).map(([field, schema]) => [field, this.resolved(schema)]);
    return { properties: Object.fromEntries(fields) as ObjectOf['properties'], required };
  }

  private resolved({ $ref, ...schema }: Described): Described {
    if (typeof $ref !== 'string') return schema;
    const named = this.described[$ref.slice(REF.length)];
    if (named === undefined) throw new Error(`${$ref} is not a schema of this resource`);
    return { ...named, ...schema };
  }
}

function ruleOf(field: string, { type: types, format, 'x-extensible-enum': words }: Described): Rule {
  const type = [types].flat().find((each) => each !== 'null');
  if (Array.isArray(words))
    return { must: `must be one of ${words.join(', ')}`, holds: (value) => words.includes(value) };
  if (type === 'string') return { must: 'must be a string', holds: isString };
  if (type === 'array')
    return { must: 'must be an array of strings', holds: (value) => Array.isArray(value) && value.every(isString) };
  if (type === 'integer' && format === 'int64') return { must: `must be ${BODY_INT64}`, holds: isInt64 };
  throw new Error(`${field} has a type that no rule judges: ${String(type)}`);
}

function isString(value: unknown): boolean {
  return typeof value === 'string';
}
