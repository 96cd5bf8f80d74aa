import { FIXED_PLANS, limitsOf, plan } from '@adoption-store/domain';
import { errorSchemas, refusalResponses } from './errors.js';
import { headers } from './headers.js';
import { messageSchemas } from '../messages/message.schema.js';
import { petSchemas } from '../pets/pet.schema.js';
import { orderSchemas } from '../store/order.schema.js';
import { parameters } from './parameters.js';
import { paths } from './paths.js';
import { rateLimitSchemas } from './rate-limit.js';
import type { Described } from './schema.js';

const rows = FIXED_PLANS.map((name) => {
  const { perMinute, perDay } = limitsOf(plan(name));
  return `| ${name} | ${perMinute.toLocaleString('en')} | ${perDay.toLocaleString('en')} |`;
});

const INTRODUCTION = `Lists, adds and fetches animals for adoption, and takes orders of them.

## Authentication
Every request carries \`Authorization: Bearer <API_KEY>\`. A missing or invalid key is answered 401.

## Errors
Every refusal has the same body, \`{"code": …, "message": …, "status": …}\`. Programs go by \`code\`, people read \`message\`.

## Numbers
An int64 is exact to its last digit, both ways. Clients whose numbers are doubles must parse it as a big integer.

## Pages
A list is a bare array. Where another page follows, the \`Link\` header has its address (\`rel="next"\`).

## Limits
| Plan | Requests a minute | Requests a day |
| --- | --- | --- |
${rows.join('\n')}
| enterprise | its own | its own |

Every answer says in \`X-RateLimit-*\` how many requests are left. Over a limit the answer is 429; wait for the seconds in
\`Retry-After\`, and back off exponentially: whoever goes on regardless is banned for a while.

## Repeating a request
A POST with an \`Idempotency-Key\` happens once, however often it is sent.

## Stability
The version is part of the path, \`/v1\`. An operation marked \`beta\` or \`experimental\` may still change; its answers say
so in \`X-Stability\`. One that is deprecated says since when and until when, in \`Deprecation\` and \`Sunset\`.`;

/** The interface description, OpenAPI 3.1. What the code knows is taken from it, so that the two can't differ. */
export const description: Described = {
  openapi: '3.1.0',
  info: {
    title: 'Animal Adoption Store API',
    version: '1.0.0',
    description: INTRODUCTION,
    contact: { name: 'Animal Adoption Store' },
    license: { name: 'MIT', identifier: 'MIT' },
  },
  servers: [
    { url: './v1', description: 'This server' },
    { url: 'https://api.adoption-store.example/v1', description: 'Production' },
    { url: 'https://api.staging.adoption-store.example/v1', description: 'Staging; it has keys of its own' },
  ],
  tags: [
    { name: 'Pets', description: 'The animals.' },
    { name: 'Store', description: 'Orders of animals.' },
    { name: 'Messages', description: 'Messages to the store.' },
    { name: 'Limits', description: 'What the plan allows, and what is left of it.' },
  ],
  security: [{ bearerAuth: [] }],
  paths,
  components: {
    securitySchemes: {
      bearerAuth: {
        type: 'http',
        scheme: 'bearer',
        bearerFormat: 'aas_live_…',
        description: 'An API key. Create an account to get one.',
      },
    },
    schemas: {
      ...petSchemas.described,
      ...errorSchemas,
      ...orderSchemas.described,
      ...messageSchemas.described,
      ...rateLimitSchemas,
    },
    parameters,
    headers,
    responses: refusalResponses,
  },
};

/** As it is served, and committed. */
export function descriptionText(): string {
  return `${JSON.stringify(description, null, 2)}\n`;
}
