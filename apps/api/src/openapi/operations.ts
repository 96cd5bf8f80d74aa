import type { Instant, Scope } from '@adoption-store/domain';
import { readSamples, type Sample } from '@adoption-store/web';
import type { DefinedOperation } from '../http/operations/operation.js';
import { queryParameters } from '../http/operations/query-parameters.js';
import { schemaOf } from '../http/operations/resource-schemas.js';
import { type Described, type DescribedParameter, json, ref } from '../http/operations/schema.js';
import { refusal, refusals, type ErrorStatus } from './errors.js';
import { type HeaderName, withHeaders, type HeaderParameter, headerParameters } from './headers.js';

/** The groups of operations, by the first part of their paths. */
const GROUPS: Readonly<Record<string, { readonly name: string; readonly description: string }>> = {
  pets: { name: 'Pets', description: 'The animals.' },
  categories: { name: 'Categories', description: 'Names for the categories of animals.' },
  store: { name: 'Store', description: 'Orders of animals.' },
  messages: { name: 'Messages', description: 'Messages to the store.' },
  events: { name: 'Events', description: 'What has happened in the store.' },
  webhooks: { name: 'Webhooks', description: 'The events, pushed to receivers.' },
  rate_limit: { name: 'Limits', description: 'The limits of the plan, and the requests left.' },
};

export const tags = Object.values(GROUPS);

export function pathsOf(operations: readonly DefinedOperation[]): Described {
  const samples = readSamples();
  const paths: Record<string, Record<string, Described>> = {};
  for (const operation of operations) {
    const path = operation.route.slice(`${operation.method} /v1`.length);
    paths[path] = { ...paths[path], [operation.method.toLowerCase()]: described(operation, samples.get(operation.id)) };
  }
  return paths;
}

export function sharedParameters(operations: readonly DefinedOperation[]): Described {
  const own = operations
    .flatMap(ownParameters)
    .flatMap(({ component, described: parameter }) =>
      component === undefined ? [] : [[component, parameter] as const],
    );
  return { ...headerParameters, ...Object.fromEntries(own) };
}

function described(operation: DefinedOperation, samples: readonly Sample[] | undefined): Described {
  const { id, scopes, stability, notice, summary, examples = {}, body } = operation;
  return {
    operationId: id,
    summary,
    deprecated: notice && true,
    'x-deprecated-sunset': notice && new Date(notice.deprecation.sunset).toISOString().slice(0, 10),
    description: explained(operation),
    // A linter reports a path without a group.
    tags: [groupOf(operation)],
    'x-stability': stability,
    'x-codeSamples': samples,
    security: scopes.length === 0 ? undefined : [{ bearerAuth: scopes }],
    parameters: [
      ...ownParameters(operation).map(({ component, described: parameter }) =>
        component === undefined ? parameter : ref('parameters', component),
      ),
      ...takenHeaders(operation).map((name) => ref('parameters', name)),
    ],
    requestBody: body && { required: true, content: json(schemaOf(body.type), examples, body.mediaTypes) },
    responses: responsesOf(operation),
  };
}

function groupOf({ route }: DefinedOperation): string | undefined {
  return GROUPS[route.split('/')[2] ?? '']?.name;
}

function explained({ notice, description, scopes }: DefinedOperation): string {
  const end =
    notice && `Deprecated: it will be removed on ${longDate(notice.deprecation.sunset)} and then answers 410. `;
  return `${end ?? ''}${description} ${needed(scopes)}`;
}

function needed(scopes: readonly Scope[]): string {
  const names = scopes.map((scope) => `\`${scope}\``).join(' and ');
  if (scopes.length === 0) return 'It needs no scope.';
  return `It needs the ${scopes.length === 1 ? 'scope' : 'scopes'} ${names}.`;
}

export function readmeRows(operations: readonly DefinedOperation[]): readonly string[] {
  return operations.map(({ route, stability, notice, summary }) => {
    if (notice === undefined) return `| \`${route}\`${stability === undefined ? '' : ` (${stability})`} | ${summary} |`;
    const { sunset, replacement } = notice.deprecation;
    return `| \`${route}\` (deprecated) | ${summary}, until ${longDate(sunset)}; use \`${replacement}\` |`;
  });
}

export function markdownLists(operations: readonly DefinedOperation[]): readonly string[] {
  return tags.map(({ name, description }) => {
    const items = operations.filter((operation) => groupOf(operation) === name).map(markdownItem);
    return `### ${name}\n${description}\n\n${items.join('\n')}`;
  });
}

function markdownItem(operation: DefinedOperation): string {
  const { route, stability, summary, examples = {}, query } = operation;
  const names = queryParameters(query).map(({ described: { name } }) => `\`${name}\``);
  const [body] = Object.values(examples);
  const parts = [`\`${route.replace(' /v1', ' ')}\`: ${summary}.`, explained(operation)];
  if (names.length > 0) parts.push(`Query: ${names.join(', ')}.`);
  if (body !== undefined) parts.push(`Body, for example: \`${JSON.stringify(body)}\`.`);
  if (stability !== undefined) parts.push(`Stability: ${stability}.`);
  return `- ${parts.join(' ')}`;
}

/** For example `5 December 2030`. */
function longDate(instant: Instant): string {
  return new Date(instant).toLocaleDateString('en-GB', { dateStyle: 'long', timeZone: 'UTC' });
}

function ownParameters({ path, query }: DefinedOperation): readonly DescribedParameter[] {
  return [...(path ?? []), ...queryParameters(query)];
}

function isRepeatable({ method, idempotencyKey }: DefinedOperation): boolean {
  return method === 'POST' && idempotencyKey === undefined;
}

function takenHeaders(operation: DefinedOperation): readonly HeaderParameter[] {
  const names: HeaderParameter[] = [];
  if (operation.isConditional) names.push('IfMatch', 'IfNoneMatch');
  if (isRepeatable(operation)) names.push('IdempotencyKey');
  return [...names, 'RequestId'];
}

function responsesOf(operation: DefinedOperation): Described {
  const { method, scopes, success, notice, refusals: own = [] } = operation;
  const others: ErrorStatus[] = [...own];
  if (scopes.length > 0) others.push(403);
  if (isRepeatable(operation)) others.push(409);
  if (operation.isConditional) others.push(412);
  const announced = noticeHeaders(operation);
  return {
    ...Object.fromEntries(
      Object.entries(success).map(([status, [description, content]]) => [
        status,
        {
          description,
          headers: { ...withHeaders(), ...announced, ...withHeaders(...headersOf(operation, Number(status))) },
          content,
        },
      ]),
    ),
    ...(method === 'GET' && operation.isConditional && { 304: notModified(operation) }),
    ...refusals(...others),
    // These responses come after the guards, so they have the headers of the deprecation.
    ...(notice &&
      Object.fromEntries(([404, 410, 412, 500, 503] as const).map((status) => [status, refusal(status, announced)]))),
  };
}

/** The headers of a success, besides those of every response. */
function headersOf(operation: DefinedOperation, status: number): HeaderName[] {
  const { stability, hasEntityTag = true, path = [], query } = operation;
  const names: HeaderName[] = [];
  if (queryParameters(query).some(({ component }) => component === 'Cursor')) names.push('Link');
  if (stability !== undefined) names.push('X-Stability');
  if ((status === 200 || status === 201) && hasEntityTag) names.push('ETag');
  // A 202 is of a new resource too, unless the path names one.
  if (status === 201 || (status === 202 && path.length === 0)) names.push('Location');
  if (isRepeatable(operation)) names.push('Idempotent-Replayed');
  return names;
}

function notModified(operation: DefinedOperation): Described {
  const stability = operation.stability === undefined ? [] : (['X-Stability'] as const);
  return {
    description: 'The response is still the one that `If-None-Match` names. It has no body.',
    headers: { ...withHeaders('ETag', ...stability), ...noticeHeaders(operation) },
  };
}

function noticeHeaders({ notice }: DefinedOperation): Described {
  if (notice === undefined) return {};
  const { deprecation, sunset } = notice.headers;
  const successor = notice.deprecation.replacement.replace('GET ', '').replace(/\{\w+\}/g, '1');
  return {
    Deprecation: {
      description: 'The date of the deprecation (RFC 9745).',
      schema: { type: 'string', const: deprecation, examples: [deprecation] },
    },
    Sunset: {
      description: 'The date of the removal (RFC 8594).',
      schema: { type: 'string', const: sunset, examples: [sunset] },
    },
    Link: {
      description:
        'The replacement of the operation (`rel="successor-version"`), and the reference page (`rel="deprecation"`).',
      schema: {
        type: 'string',
        pattern: '^<[^>]+>; rel="successor-version", <[^>]+>; rel="deprecation"; type="text/html"$',
        examples: [
          `<https://api.adoption-store.example${successor}>; rel="successor-version", ` +
            '<https://api.adoption-store.example/docs>; rel="deprecation"; type="text/html"',
        ],
      },
    },
  };
}
