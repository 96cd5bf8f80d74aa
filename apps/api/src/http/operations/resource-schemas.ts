import { applyDecorators, type Type } from '@nestjs/common';
import { Expose } from 'class-transformer';
import { IsDefined, IsIn, IsString, ValidateIf } from 'class-validator';
import fastJson, { type ObjectSchema } from 'fast-json-stringify';
import type { Described } from './schema.js';
import { IsInt64, IsStrings } from './validation.js';

const REF = '#/components/schemas/';
/** The metadata key under which the class of a body has the name of its schema. */
const SCHEMA = 'schema';
/** The same for the properties of that schema. */
const FIELDS = 'fields';

interface ObjectOf {
  readonly properties: Readonly<Record<string, Described>>;
  readonly required: readonly string[];
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

  /** Decorates a property of a body's class: it is validated by the property of the same name in the schema. */
  field(name: string): PropertyDecorator {
    const { properties, required } = this.objectOf(name);
    return (target, property) => {
      Reflect.defineMetadata(SCHEMA, name, target);
      Reflect.defineMetadata(FIELDS, Object.keys(properties), target);
      const field = String(property);
      const schema = properties[field];
      if (schema === undefined) throw new Error(`${name} has no ${field}`);
      const isRequired = required.includes(field);
      applyDecorators(
        Expose(),
        ruleOf(field, schema),
        // Not @IsOptional, which would let null through.
        isRequired
          ? IsDefined({ message: `${field} is required` })
          : ValidateIf((body: Record<string, unknown>) => body[field] !== undefined && !isNull(body[field], schema)),
      )(target, property);
    };
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

/** The name of the schema whose properties a body's class has. */
export function schemaOf(body: Type<object>): string {
  return String(Reflect.getMetadata(SCHEMA, body.prototype as object));
}

/** The properties of that schema, in its order. */
export function fieldsOf(body: Type<object>): readonly string[] {
  return Reflect.getMetadata(FIELDS, body.prototype as object) as readonly string[];
}

function isNull(value: unknown, { type }: Described): boolean {
  return value === null && [type].flat().includes('null');
}

function ruleOf(field: string, { type: types, format, 'x-extensible-enum': words }: Described): PropertyDecorator {
  const type = [types].flat().find((each) => each !== 'null');
  if (Array.isArray(words)) return IsIn(words, { message: `${field} must be one of ${words.join(', ')}` });
  if (type === 'string') return IsString({ message: `${field} must be a string` });
  if (type === 'array') return IsStrings();
  if (type === 'integer' && format === 'int64') return IsInt64();
  throw new Error(`${field} has a type that no rule judges: ${String(type)}`);
}
