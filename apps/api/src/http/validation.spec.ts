import { describe, expect, it } from '@jest/globals';
import { plainToInstance } from 'class-transformer';
import { IsOptional, ValidateNested, validateSync } from 'class-validator';
import fc from 'fast-check';
import { NewMessageBody } from '../messages/new-message.body.js';
import { ListPetsQuery, PETS_CURSOR } from '../pets/list-pets.query.js';
import { NewPetBody } from '../pets/new-pet.body.js';
import { ListOrdersQuery } from '../store/list-orders.query.js';
import { NewOrderBody } from '../store/new-order.body.js';
import { encodeCursor } from './cursor.js';
import { validBody, validQuery } from './validation.js';

const BODIES = [NewPetBody, NewOrderBody, NewMessageBody];
const QUERIES: (new () => object)[] = [ListPetsQuery, ListOrdersQuery];

const read = (body: object, type: new () => object) => validBody(type, body as Record<string, unknown>);

/** What JSON may hold, with integers as our parser gives them. */
const value = fc.oneof(
  fc.constantFrom('available', 'sold', '', null, true, 2n ** 63n - 1n, 2n ** 63n),
  fc.string(),
  fc.bigInt(),
  fc.double(),
  fc.array(fc.bigInt()),
  fc.dictionary(fc.string(), fc.bigInt()),
);
const names = ['name', 'categoryId', 'status', 'petId', 'message', 'id'];
const body = fc.record(Object.fromEntries(names.map((name) => [name, value])), { requiredKeys: [] });

/** What a query string may hold. */
const parameter = fc.oneof(
  fc.constantFrom('1', '100', '0', '101', '-5', 'available', 'placed', 'sold', ''),
  fc.bigInt().map(String),
  fc.bigInt({ min: 1n, max: 10n }).map((after) => encodeCursor(PETS_CURSOR, after)),
  fc.string(),
);
const parameters = ['limit', 'status', 'id', 'cursor', 'other'];
const query = fc.record(
  Object.fromEntries(parameters.map((name) => [name, fc.oneof(parameter, fc.array(parameter))])),
  { requiredKeys: [] },
);

/** The first rule that class-validator finds broken. */
function brokenRule(object: object): string | undefined {
  const [error] = validateSync(object, { stopAtFirstError: true, forbidUnknownValues: false });
  return Object.values(error?.constraints ?? {})[0];
}

/** Expects what `read` gives, or that it refuses with the message. */
function expectJudged(message: string | undefined, read: () => void): void {
  if (message === undefined) read();
  else expect(read).toThrow(expect.objectContaining({ code: 'invalid_parameter', message }));
}

describe('a body', () => {
  it.each(BODIES)('is judged as class-validator judges it: %p', (type) => {
    fc.assert(
      fc.property(body, (given) => {
        expectJudged(brokenRule(Object.assign(new type(), given)), () => {
          const taken = read(given, type);
          expect(taken).toBeInstanceOf(type);
          expect(given).toMatchObject(taken);
        });
      }),
    );
  });

  it('keeps nothing that has no rule', () => {
    expect(Object.keys(read({ message: 'Hello', id: 1n }, NewMessageBody))).toEqual(['message']);
  });

  it('has no rule that is judged otherwise than class-validator would', () => {
    class Nested {
      @IsOptional()
      @ValidateNested()
      owner?: object;
    }
    expect(() => read({}, Nested)).toThrow('owner has a rule of another kind');
  });
});

describe('a query', () => {
  it.each(QUERIES)('is judged as class-validator judges it: %p', (type) => {
    fc.assert(
      fc.property(query, (given) => {
        const object = plainToInstance(type, given, { excludeExtraneousValues: true, exposeUnsetFields: false });
        expectJudged(brokenRule(object), () => {
          expect(validQuery(type, given)).toEqual(object);
        });
      }),
    );
  });
});
