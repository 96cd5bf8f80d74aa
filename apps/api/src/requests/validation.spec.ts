import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { NewMessageBody } from '../messages/new-message.body.js';
import { ListPetsQuery, PETS_CURSOR } from '../pets/list-pets.query.js';
import { NewPetBody } from '../pets/new-pet.body.js';
import { ListOrdersQuery } from '../store/list-orders.query.js';
import { NewOrderBody } from '../store/new-order.body.js';
import { encodeCursor } from '../responses/next-page.js';
import { HttpRefusal } from '../errors/error-codes.js';
import { validated } from './validation.js';

/** The exposed properties of each class. */
const EXPOSED = new Map<new () => object, readonly string[]>([
  [NewPetBody, ['name', 'categoryId', 'status']],
  [NewOrderBody, ['petId']],
  [NewMessageBody, ['message']],
  [ListPetsQuery, ['limit', 'status', 'ids', 'after']],
  [ListOrdersQuery, ['limit', 'status', 'after']],
]);

/** JSON values, with integers as the strict parser returns them, and query-string values. */
const value = fc.oneof(
  fc.constantFrom('available', 'placed', 'sold', '', '1', '100', '101', null, true, 2n ** 63n - 1n, 2n ** 63n),
  fc.string(),
  fc.bigInt(),
  fc.double(),
  fc.array(fc.bigInt()),
  fc.array(fc.string()),
  fc.dictionary(fc.string(), fc.bigInt()),
  fc.bigInt({ min: 1n, max: 10n }).map((after) => encodeCursor(PETS_CURSOR, after)),
);
const names = ['name', 'categoryId', 'status', 'petId', 'message', 'id', 'limit', 'cursor', 'other', 'constructor'];
const given = fc.record(Object.fromEntries(names.map((name) => [name, value])), { requiredKeys: [] });

describe.each([...EXPOSED])('any input for a %p', (type, exposed) => {
  it('becomes an object with only exposed properties, or is refused with the broken rule', () => {
    fc.assert(
      fc.property(given, (plain) => {
        try {
          const object = validated(type, plain);
          expect(object).toBeInstanceOf(type);
          expect(exposed).toEqual(expect.arrayContaining(Object.keys(object)));
        } catch (error) {
          expect(error).toBeInstanceOf(HttpRefusal);
          expect(error).toMatchObject({
            code: 'invalid_parameter',
            message: expect.stringMatching(/ must | is required$/),
          });
        }
      }),
    );
  });
});
