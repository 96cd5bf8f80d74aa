import { expect, it } from '@jest/globals';
import { isAnswer } from './answers.js';

const PET = { id: 1n, name: 'Luna', categoryId: 2n ** 63n - 1n, status: 'sold' };
const LIMITS = { limit: 60, used: 1, remaining: 59, reset: 1_795_262_460 };

it.each<[string, number, unknown]>([
  ['GET /pets', 200, []],
  ['GET /pets', 200, [PET, PET]],
  ['POST /pets', 201, PET],
  ['POST /pets', 200, { ...PET, status: 'a status of tomorrow', microchip: '985' }],
  ['DELETE /pets/{petId}', 204, undefined],
  ['GET /rate_limit', 200, { plan: 'free', minute: LIMITS, day: LIMITS, ban: null }],
  ['GET /rate_limit', 200, { plan: 'free', minute: LIMITS, day: LIMITS, ban: { until: 5 } }],
  ['GET /of/tomorrow', 200, 'anything'],
])('%s can have %i with %o', (operation, status, body) => {
  expect(isAnswer(operation, status, body)).toBe(true);
});

it.each<[string, number, unknown]>([
  ['GET /pets', 200, null],
  ['GET /pets', 200, {}],
  ['GET /pets', 200, [null]],
  ['GET /pets', 200, [PET, { ...PET, id: 1 }]],
  ['GET /pets', 200, { 0: PET, length: 1 }],
  ['GET /pets', 204, undefined],
  ['POST /pets', 201, null],
  ['POST /pets', 201, 'Luna'],
  ['POST /pets', 201, {}],
  ['POST /pets', 201, [PET]],
  ['POST /pets', 201, { code: 'not_found', message: 'no animal', status: 404 }],
  ['POST /pets', 201, { ...PET, id: 2n ** 63n }],
  ['POST /pets', 201, { ...PET, id: -(2n ** 63n) - 1n }],
  ['POST /pets', 201, { ...PET, name: 5 }],
  ['POST /pets', 201, { ...PET, status: undefined }],
  ['DELETE /pets/{petId}', 200, {}],
  ['DELETE /pets/{petId}', 200, undefined],
  ['GET /rate_limit', 200, { plan: 'free', minute: LIMITS, day: LIMITS }],
  ['GET /rate_limit', 200, { plan: 'free', minute: { ...LIMITS, reset: 1.5 }, day: LIMITS, ban: null }],
])('%s can never have %i with %o', (operation, status, body) => {
  expect(isAnswer(operation, status, body)).toBe(false);
});
