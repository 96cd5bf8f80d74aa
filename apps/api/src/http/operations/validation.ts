import { INT64_MAX, INT64_MIN, isInt64 } from '@adoption-store/domain';
import type { Type } from '@nestjs/common';
import { plainToInstance } from 'class-transformer';
import { ValidateBy, validateSync } from 'class-validator';
import { HttpRefusal } from '../answers/error-codes.js';

/** All properties of an input. A class that implements it doesn't compile if it lacks one. */
export type Given<Input> = { readonly [Property in keyof Required<Input>]: Input[Property] | undefined };

/**
 * Converts a query or a JSON object to its class, with only the exposed properties, or refuses it with the first broken
 * rule.
 */
export function validated<Wanted extends object>(type: Type<Wanted>, plain: object): Wanted {
  const object = plainToInstance(type, plain, { excludeExtraneousValues: true, exposeUnsetFields: false });
  const [error] = validateSync(object, { stopAtFirstError: true, forbidUnknownValues: false });
  if (error === undefined) return object;
  const [message = 'the request is not valid'] = Object.values(error.constraints ?? {});
  throw new HttpRefusal('invalid_parameter', message);
}

/** An integer of 64 bits, as a bigint. */
export function IsInt64(options: { readonly message?: string; readonly each?: boolean } = {}): PropertyDecorator {
  return ValidateBy(
    {
      name: 'isInt64',
      validator: {
        validate: isInt64,
        defaultMessage: () => options.message ?? `$property must be an integer from ${INT64_MIN} to ${INT64_MAX}`,
      },
    },
    { each: options.each ?? false },
  );
}

export function IsStrings(): PropertyDecorator {
  const validate = (value: unknown) => Array.isArray(value) && value.every((each) => typeof each === 'string');
  return ValidateBy({
    name: 'isStrings',
    validator: { validate, defaultMessage: () => '$property must be an array of strings' },
  });
}
