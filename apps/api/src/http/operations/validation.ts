import { INT64_MAX, INT64_MIN, isInt64, listed, MOST_TOLD, TYPED, Wording } from '@adoption-store/domain';
import type { Type } from '@nestjs/common';
import { plainToInstance } from 'class-transformer';
import { ValidateBy, validateSync } from 'class-validator';
import { HttpError, quoted } from '../answers/error-codes.js';

const BODY_INT64 = `an integer from ${INT64_MIN} to ${INT64_MAX}, a JSON number without quotes or fraction`;

/** All properties of an input. A class that implements it doesn't compile if it lacks one. */
export type Given<Input> = { readonly [Property in keyof Required<Input>]: Input[Property] | undefined };

export interface Fault {
  readonly property: string;
  readonly message: string;
  /** The part of the message that may be kept. */
  readonly kept: string;
}

/** Converts a JSON object to its class, with only the exposed properties, and finds what is wrong with it. */
export function judged<Wanted extends object>(type: Type<Wanted>, plain: object) {
  const input = plainToInstance(type, plain, { excludeExtraneousValues: true, exposeUnsetFields: false });
  const errors = validateSync(input, { stopAtFirstError: true, forbidUnknownValues: false });
  const faults: readonly Fault[] = errors.map(({ property, constraints = {} }) => {
    const [message = `${property} is not valid`] = Object.values(constraints);
    // The decorators' messages are ours, without `$value`.
    return { property, message, kept: message };
  });
  return { input, faults };
}

interface UnknownNames {
  readonly unknown: readonly string[];
  readonly known: readonly string[];
  /** What a known name is. */
  readonly one: string;
  readonly several: string;
  /** Which names are known, for people. */
  readonly rule: string;
}

/** The refusal of an input, which names at most five faults. */
export function invalidInput(faults: readonly Fault[], names: UnknownNames): HttpError {
  const messages = faults.map(({ message, kept }) => new Wording(message, kept));
  const unknown = names.unknown.length === 0 ? [] : [unknownNames(names, Math.max(1, MOST_TOLD - faults.length))];
  const all = [...unknown, ...messages];
  const text = listed(all.map((each) => each.text));
  return new HttpError('invalid_parameter', new Wording(text, listed(all.map(({ kept }) => kept))));
}

function unknownNames({ unknown, known, one, several, rule }: UnknownNames, most: number): Wording {
  const first = unknown.slice(0, most);
  const hint = first.map((name) => likeliest(name, known)).find((name) => name !== undefined);
  const names = listed(unknown.map(quoted), ', ', most);
  const fault = unknown.length === 1 ? `${names} is not ${one}` : `${names} are not ${several}`;
  const keptFault = unknown.length === 1 ? `${TYPED} is not ${one}` : `${TYPED} are not ${several}`;
  const end = `, ${rule}${hint === undefined ? '' : ` (did you mean ${hint}?)`}`;
  return new Wording(fault + end, keptFault + end);
}

/** The known name that another spelling stands for: `Types`, `type`, `event_types` and `eventTypes` for `types`. */
function likeliest(name: string, known: readonly string[]): string | undefined {
  const words = name.slice(0, 50).split(/[^A-Za-z]+|(?<=[a-z])(?=[A-Z])/);
  const same = known.find((each) => bare(each) === bare(words.join('')));
  return same ?? known.find((each) => words.some((word) => bare(word) === bare(each)));
}

function bare(word: string): string {
  return word.toLowerCase().replace(/s$/, '');
}

export function IsInt64(): PropertyDecorator {
  const defaultMessage = () => `$property must be ${BODY_INT64}`;
  return ValidateBy({ name: 'isInt64', validator: { validate: isInt64, defaultMessage } });
}

export function IsStrings(): PropertyDecorator {
  const validate = (value: unknown) => Array.isArray(value) && value.every((each) => typeof each === 'string');
  return ValidateBy({
    name: 'isStrings',
    validator: { validate, defaultMessage: () => '$property must be an array of strings' },
  });
}
