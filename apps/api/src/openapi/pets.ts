import { MAX_IDS } from '@adoption-store/domain';
import { deprecationHeaders, getPetDeprecation } from '../http/deprecation.js';
import { refusal, refusals } from './errors.js';
import { withHeaders } from './headers.js';
import { parameter } from './parameters.js';
import { LUNA } from '../pets/pet.schema.js';
import { type Described, json, schemaRef } from './schema.js';

const TAGS = ['Pets'];
const MILO = { ...LUNA, id: 2, name: 'Milo' };

const listPets: Described = {
  operationId: 'listPets',
  summary: 'List animals',
  description:
    'Lists animals by their identifiers, ascending. The next page is at the address in the `Link` header, for as long ' +
    'as there is one.',
  tags: TAGS,
  parameters: [
    parameter('Limit'),
    { name: 'status', in: 'query', description: 'Only animals with this status.', schema: schemaRef('PetStatus') },
    {
      name: 'id',
      in: 'query',
      description: `Only these animals; repeat it for more than one, up to ${MAX_IDS} times. Unknown ones are just not there.`,
      style: 'form',
      explode: true,
      schema: { type: 'array', maxItems: MAX_IDS, items: { type: 'integer', format: 'int64' } },
    },
    parameter('Cursor'),
    parameter('RequestId'),
  ],
  responses: {
    200: {
      description: 'A page of animals.',
      headers: withHeaders('Link'),
      content: json({ type: 'array', items: schemaRef('Pet') }, { page: [LUNA, MILO], 'nothing found': [] }),
    },
    ...refusals(),
  },
};

const createPet: Described = {
  operationId: 'createPet',
  summary: 'Add an animal',
  description: 'Adds an animal. Any status may be given; properties that are not listed here are ignored.',
  tags: TAGS,
  parameters: [parameter('IdempotencyKey'), parameter('RequestId')],
  requestBody: {
    required: true,
    content: json(schemaRef('NewPet'), {
      'an animal': { name: 'Bella', categoryId: 1 },
      'with its status': { name: 'Bella', categoryId: 1, status: 'pending' },
    }),
  },
  responses: {
    201: {
      description: 'The animal has been added.',
      headers: withHeaders('Location', 'Idempotent-Replayed'),
      content: json(schemaRef('Pet'), { 'the animal': { ...LUNA, id: 6, name: 'Bella' } }),
    },
    ...refusals(),
  },
};

const { deprecation, sunset } = deprecationHeaders(getPetDeprecation);
const sunsetDate = new Date(getPetDeprecation.sunset);

/** What getPet tells of its end. Refusals that come before it don't. */
const deprecationNotice: Described = {
  Deprecation: {
    description: 'Since when the operation is deprecated (RFC 9745).',
    schema: { type: 'string', const: deprecation },
  },
  Sunset: { description: 'When the operation is removed (RFC 8594).', schema: { type: 'string', const: sunset } },
  Link: {
    description: 'What replaces the operation (`rel="successor-version"`), and this page (`rel="deprecation"`).',
    schema: {
      type: 'string',
      pattern: '^<[^>]+>; rel="successor-version", <[^>]+>; rel="deprecation"; type="text/html"$',
      examples: [
        '<https://api.adoption-store.example/v1/pets?id=1>; rel="successor-version", ' +
          '<https://api.adoption-store.example/docs>; rel="deprecation"; type="text/html"',
      ],
    },
  },
};

function withNotice(response: Described): Described {
  return { ...response, headers: { ...(response['headers'] as Described), ...deprecationNotice } };
}

const getPet: Described = {
  operationId: 'getPet',
  summary: 'Get an animal',
  description:
    `Deprecated: it is removed on ${sunsetDate.toLocaleDateString('en-GB', { dateStyle: 'long', timeZone: 'UTC' })} ` +
    'and answers 410 from then on. List the animals by `status` instead, or one of them by `id`: ' +
    '`GET /pets?status=available`, `GET /pets?id=1`.',
  deprecated: true,
  'x-deprecated-sunset': sunsetDate.toISOString().slice(0, 10),
  tags: TAGS,
  parameters: [
    {
      name: 'petId',
      in: 'path',
      required: true,
      description: 'Identifier of the animal.',
      schema: { type: 'integer', format: 'int64' },
    },
    parameter('RequestId'),
  ],
  responses: {
    ...refusals(),
    200: withNotice({
      description: 'The animal.',
      headers: withHeaders(),
      content: json(schemaRef('Pet'), { 'the animal': LUNA }),
    }),
    404: withNotice(refusal(404)),
    410: withNotice(refusal(410)),
    500: withNotice(refusal(500)),
    503: withNotice(refusal(503)),
  },
};

export const petPaths: Described = {
  '/pets': { get: listPets, post: createPet },
  '/pets/{petId}': { get: getPet },
};
