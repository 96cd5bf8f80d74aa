import { describe, expect, it } from '@jest/globals';
import { IsInt, IsOptional, validateSync } from 'class-validator';
import fc from 'fast-check';
import { NewMessageBody } from '../messages/new-message.body.js';
import { NewPetBody } from '../pets/new-pet.body.js';
import { NewOrderBody } from '../store/new-order.body.js';
import { HttpRefusal } from './error-codes.js';
import { validBody } from './validation.js';

const BODIES = [NewPetBody, NewOrderBody, NewMessageBody];

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

describe('a body', () => {
  it.each(BODIES)('is judged as class-validator judges it: %p', (type) => {
    fc.assert(
      fc.property(body, (given) => {
        const object = Object.assign(new type(), given);
        const [error] = validateSync(object, { stopAtFirstError: true, forbidUnknownValues: false });
        const message = Object.values(error?.constraints ?? {})[0];
        let refusal: unknown;
        try {
          const taken = read(given, type);
          expect(taken).toBeInstanceOf(type);
          expect(given).toMatchObject(taken);
        } catch (thrown) {
          refusal = thrown;
        }
        if (message === undefined) expect(refusal).toBeUndefined();
        else expect(refusal).toEqual(new HttpRefusal('invalid_parameter', message));
      }),
    );
  });

  it('keeps nothing that has no rule', () => {
    expect(Object.keys(read({ message: 'Hello', id: 1n }, NewMessageBody))).toEqual(['message']);
  });

  it('has no rule that is judged otherwise than class-validator would', () => {
    class Listing {
      @IsOptional()
      @IsInt({ each: true })
      ids?: number[];
    }
    expect(() => read({}, Listing)).toThrow('ids has a rule that bodies have not');
  });
});
