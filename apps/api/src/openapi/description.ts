import { FIXED_PLANS, limitsOf, plan, SCOPE_MEANINGS } from '@adoption-store/domain';
import { categorySchemas } from '../categories/category.schema.js';
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

const scopes = Object.entries(SCOPE_MEANINGS).map(([scope, meaning]) => `| \`${scope}\` | ${meaning} |`);

const INTRODUCTION = `Lists, adds, fetches, changes and withdraws animals for adoption, and takes orders for them.

## Authentication
Send \`Authorization: Bearer <API_KEY>\` with every request. A missing or invalid key is answered with 401.

## Scopes
An API key that names no scopes may do everything that its account may. One that names some is answered 403
\`insufficient_scope\` by every operation that needs another; \`WWW-Authenticate\` names the scope that is missing. Each
operation says which scope it needs.

| Scope | What it allows |
| --- | --- |
${scopes.join('\n')}

## Errors
Every error has the same body, \`{"code": …, "message": …, "status": …}\`. \`code\` is for programs, \`message\` for people.

## Numbers
An int64 is exact to its last digit, in requests and responses. Clients whose numbers are doubles must parse it as a big
integer.

## Pages
A list is a bare array. If there is another page, the \`Link\` header has its address (\`rel="next"\`).

A query parameter that an operation doesn't have is answered with 400.

## Changes
A GET has an \`ETag\`. With \`If-None-Match\` an unchanged response is 304, without a body; it counts like any request.
With \`If-Match\` a change happens only if nobody else has changed the resource since; otherwise the response is 412.

## Limits
| Plan | Requests a minute | Requests a day |
| --- | --- | --- |
${rows.join('\n')}
| enterprise | custom | custom |

The \`X-RateLimit-*\` headers of every response say how many requests are left. Over a limit the status is 429. Then wait
for the seconds in \`Retry-After\`, and back off exponentially. A key that continues to send is banned for a while.

## Repeating a request
A POST with an \`Idempotency-Key\` runs once, however often it is sent.

## Stability
The version is part of the path, \`/v1\`. An operation marked \`beta\` or \`experimental\` may still change; its
responses have the header \`X-Stability\`. The responses of a deprecated one have its dates in \`Deprecation\` and
\`Sunset\`.`;

/** The OpenAPI 3.1 description. Values that the code knows are taken from the code, so that the two can't differ. */
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
    { url: 'https://api.staging.adoption-store.example/v1', description: 'Staging, with its own keys' },
  ],
  tags: [
    { name: 'Pets', description: 'The animals.' },
    { name: 'Categories', description: 'Names for the categories of animals.' },
    { name: 'Store', description: 'Orders of animals.' },
    { name: 'Messages', description: 'Messages to the store.' },
    { name: 'Limits', description: 'The limits of the plan, and the requests left.' },
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
      ...categorySchemas.described,
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

/** The text that is served, and committed as openapi.json. */
export function descriptionText(): string {
  return `${JSON.stringify(description, null, 2)}\n`;
}
