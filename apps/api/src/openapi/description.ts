import {
  ANSWER_TTL,
  ANSWER_WITHIN,
  DAY,
  DEFAULT_ADDRESS_LIMIT,
  DEFAULT_BAN_POLICY,
  DEFAULT_ORDER_LIMIT,
  DEFAULT_ORDER_TTL,
  HOUR,
  MAX_KEY_LENGTH,
  MINUTE,
  PAUSES,
  PLANS,
  SCOPE_MEANINGS,
  SECOND,
} from '@adoption-store/domain';
import { animalSchemas } from '../animals/animal.schema.js';
import { categorySchemas } from '../categories/category.schema.js';
import { errorSchemas, errorResponses } from './errors.js';
import { headers } from './headers.js';
import { eventSchemas } from '../events/event.schema.js';
import { messageSchemas } from '../messages/message.schema.js';
import { orderSchemas } from '../orders/order.schema.js';
import { pathsOf, sharedParameters, tags, markdownLists } from './operations.js';
import { webhookSchemas } from '../webhooks/webhook.schema.js';
import { receivedEvents, receivedHeaders } from './webhooks.js';
import { rateLimitSchemas } from '../limits/rate-limit.schema.js';
import type { DefinedOperation } from '../http/operations/operation.js';
import type { Described } from '../http/operations/schema.js';

const rows = Object.values(PLANS).map(
  ({ name, perMinute, perDay }) => `| ${name} | ${perMinute.toLocaleString('en')} | ${perDay.toLocaleString('en')} |`,
);

const scopes = Object.entries(SCOPE_MEANINGS).map(([scope, meaning]) => `| \`${scope}\` | ${meaning} |`);

const TITLE = 'Animal Adoption Store API';

/** The guide. Its first line says what the API is for. */
export const GUIDE = `Lists, adds, fetches, changes and withdraws animals for adoption, and takes orders for them.

## Authentication
Send \`Authorization: Bearer <API_KEY>\` with every request. A missing or invalid key is answered with 401. An address may
send ${DEFAULT_ADDRESS_LIMIT} requests a minute without a valid key, then 429; a key's quota is not touched by them.

## Scopes
An API key that names no scopes may do everything that its account may. One that names some is answered 403
\`insufficient_scope\` by every operation that needs another; the message and \`WWW-Authenticate\` name what is missing. Each
operation says which scopes it needs. The operator decides what an account may do.

| Scope | What it allows |
| --- | --- |
${scopes.join('\n')}

## Errors
Every error has the same body, \`{"code": …, "message": …, "status": …}\`. \`code\` is for programs, \`message\` for people. A 400
tells all faults of a body or query, at most five.

## Numbers
An int64 is a JSON number without quotes or fraction, exact to its last digit, in requests and responses. Integers of Python,
Ruby and PHP, \`long\` of Java and C#, and \`int64\` of Go are exact. JavaScript and TypeScript are not: \`JSON.parse\`
rounds above 2^53, and \`JSON.stringify\` throws at a bigint. There, use the typed client, lossless-json, or a reviver with
\`context.source\` and \`JSON.rawJSON\`. Go's \`any\` without \`Decoder.UseNumber\` and Gson's \`Object\` are doubles too.

## Pages
A list is a bare array. If there is another page, the \`Link\` header has its address (\`rel="next"\`). A page of events always
has one, because more will happen.

A query parameter that an operation doesn't have is answered with 400 \`invalid_parameter\`, which names it.

## Changes
Every resource that is sent has an \`ETag\`. A GET with \`If-None-Match\` whose response is unchanged is 304, without a body;
it counts like any request. With \`If-Match\` a change happens only if nobody else has changed the resource since; otherwise
the response is 412, with the current \`ETag\`. A change of an animal takes the tag of its page too, \`GET /pets?id=1\`.
Every operation on a resource judges both; a POST to a collection judges none.

## Limits
| Plan | Requests a minute | Requests a day |
| --- | --- | --- |
${rows.join('\n')}
| enterprise | custom | custom |

The \`X-RateLimit-*\` headers of every response say how many requests are left. Over a limit the status is 429. Then wait
for the seconds in \`Retry-After\`, and back off exponentially.

- Every request with a valid key that isn't refused with 429 costs one, whatever its status: a 304, a 400, and the
  repetition of a request with an \`Idempotency-Key\` too. A 429 costs none. \`GET /rate_limit\` costs none.
- A key with ${DEFAULT_BAN_POLICY.refusals} refusals (429) within a minute is banned for ${DEFAULT_BAN_POLICY.firstBan / MINUTE} minutes, and twice as long at each further ban within a
  day, up to ${DEFAULT_BAN_POLICY.longestBan / MINUTE} minutes.

## Orders
An order that is neither completed nor cancelled expires, after ${DEFAULT_ORDER_TTL / HOUR} hours by default; its animal is available again.
An account may have ${DEFAULT_ORDER_LIMIT} placed orders by default.

The operator may have set other numbers for keyless requests, bans, orders and messages.

## Webhooks
Instead of asking for events, an account can have them sent to URLs of its own, as
[Standard Webhooks](https://www.standardwebhooks.com) says: verify the signature, answer 2xx within ${ANSWER_WITHIN / SECOND} seconds, and do nothing
for a \`webhook-id\` that you have seen. Other answers are failures; an event is attempted ${PAUSES.length + 1} times within about ${Math.round(PAUSES.reduce((sum, pause) => sum + pause, 0) / DAY)} days.

## Repeating a request
A POST with an \`Idempotency-Key\` runs once, however often it is sent: for ${ANSWER_TTL / HOUR} hours it gets the same response. The key is
compared byte for byte, quotes included, and has at most ${MAX_KEY_LENGTH} bytes. The path and body must be the
same too, byte for byte; another spelling of the same JSON is another body: 400 \`idempotency_key_reused\`.
Responses of 2xx, 404 and 409 are stored. An operation whose response has a secret refuses the key. After a 400, 401, 403, 429 or 503 nothing was done, and the key is free again.

## Stability
The version is part of the path, \`/v1\`. An operation marked \`beta\` or \`experimental\` may still change; its
responses have the header \`X-Stability\`. The responses of a deprecated one have its dates in \`Deprecation\` and
\`Sunset\`.`;

/** Absolute, because a program that reads the committed file couldn't resolve a relative address. */
export const SERVERS = [
  { url: 'https://api.adoption-store.example/v1', description: 'Production' },
  { url: 'https://api.staging.adoption-store.example/v1', description: 'Staging, with its own keys' },
];

/** The OpenAPI 3.1 description. Its numbers and words come from the code, so that the two can't differ. */
export function descriptionOf(operations: readonly DefinedOperation[], servers = SERVERS): Described {
  return {
    openapi: '3.1.0',
    info: {
      title: TITLE,
      version: '1.0.0',
      description: GUIDE,
      contact: { name: 'Animal Adoption Store' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers,
    tags,
    security: [{ bearerAuth: [] }],
    paths: pathsOf(operations),
    webhooks: receivedEvents,
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
        ...animalSchemas.described,
        ...categorySchemas.described,
        ...errorSchemas,
        ...orderSchemas.described,
        ...messageSchemas.described,
        ...eventSchemas.described,
        ...webhookSchemas.described,
        ...rateLimitSchemas,
      },
      parameters: { ...sharedParameters(operations), ...receivedHeaders },
      headers,
      responses: errorResponses,
    },
  };
}

/**
 * The text of openapi.json, as it is served and committed.
 *
 * @param server its address, such as `https://api.example.com/v1` or `/v1`. Undefined for the committed file.
 */
export function descriptionText(operations: readonly DefinedOperation[], server?: string): string {
  const own = server === undefined ? [] : [{ url: server, description: 'This server' }];
  return `${JSON.stringify(descriptionOf(operations, [...own, ...SERVERS]), null, 2)}\n`;
}

/**
 * The text of llms.txt, for language models: the guide and the operations, in Markdown.
 *
 * @param server its address, such as `https://api.example.com/v1` or `/v1`.
 */
export function llmsText(operations: readonly DefinedOperation[], server: string): string {
  const parts = [
    `# ${TITLE}`,
    `> ${GUIDE}`,
    '## Operations',
    `Their paths follow \`${server}\`. [openapi.json](openapi.json) has every parameter, body and response.`,
    ...markdownLists(operations),
  ];
  return `${parts.join('\n\n')}\n`;
}
