import { applyDecorators } from '@nestjs/common';
import { Expose } from 'class-transformer';
import { IsDefined, IsIn, IsString, ValidateIf } from 'class-validator';
import fastJson, { type ObjectSchema } from 'fast-json-stringify';
import type { Described } from '../openapi/schema.js';
import { IsInt64 } from '../requests/validation.js';

const REF = '#/components/schemas/';

interface ObjectOf {
  readonly properties: Readonly<Record<string, Described>>;
  readonly required: readonly string[];
}

/**
 * The schemas of a resource as the description has them, by their names there: what is written and what a body may hold
 * follows from them.
 */
export class ResourceSchemas {
  constructor(readonly described: Readonly<Record<string, Described>>) {}

  /**
   * Writes objects as the schema has them and nothing else of them; bigints as integers, digit by digit.
   *
   * @returns what throws where an object lacks what the schema requires.
   */
  serialiser(name: string): (resource: object) => string {
    return fastJson(this.written(name));
  }

  listSerialiser(name: string): (resources: readonly object[]) => string {
    return fastJson({ type: 'array', items: this.written(name) }) as (resources: readonly object[]) => string;
  }

  /** Judges a property of a body's class by the property of the same name in the schema. */
  field(name: string): PropertyDecorator {
    const { properties, required } = this.objectOf(name);
    return (target, property) => {
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
          : ValidateIf((body: Record<string, unknown>) => body[field] !== undefined),
      )(target, property);
    };
  }

  private written(name: string): ObjectSchema {
    const { properties, required } = this.objectOf(name);
    const types = Object.entries(properties).map(([field, { type }]) => [field, { type }]);
    return { type: 'object', required: [...required], properties: Object.fromEntries(types) as Record<string, object> };
  }

  private objectOf(name: string): ObjectOf {
    const { allOf = [], ...own } = this.resolved({ $ref: `${REF}${name}` }) as Described & { allOf?: Described[] };
    const parts = [...allOf.map((part) => this.resolved(part)), own] as Partial<ObjectOf>[];
    const properties = Object.entries(Object.assign({}, ...parts.map((part) => part.properties)) as object);
    return {
      properties: Object.fromEntries(properties.map(([field, schema]) => [field, this.resolved(schema as Described)])),
      required: [...new Set(parts.flatMap((part) => part.required ?? []))],
    };
  }

  private resolved({ $ref, ...schema }: Described): Described {
    if (typeof $ref !== 'string') return schema;
    const named = this.described[$ref.slice(REF.length)];
    if (named === undefined) throw new Error(`${$ref} is not a schema of this resource`);
    return { ...named, ...schema };
  }
}

function ruleOf(field: string, { type, format, enum: words }: Described): PropertyDecorator {
  if (Array.isArray(words)) return IsIn(words, { message: `${field} must be one of ${words.join(', ')}` });
  if (type === 'string') return IsString({ message: `${field} must be a string` });
  if (type === 'integer' && format === 'int64') return IsInt64();
  throw new Error(`${field} has a type that no rule judges: ${String(type)}`);
}
