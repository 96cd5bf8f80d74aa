import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Scope } from '@adoption-store/domain';
import { pathOf, routableUrl } from '@adoption-store/web/edge';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { ErrorBody } from '../../src/http/answers/error-codes.js';

type Schema = Readonly<Record<string, unknown>> & { readonly $ref?: string };
type Named<Part> = Readonly<Record<string, Part>>;

interface Header {
  readonly required?: boolean;
  readonly schema: Schema;
}

interface Response {
  readonly headers: Named<Header | Reference>;
  /** Absent if the response has no body. */
  readonly content?: {
    readonly 'application/json': { readonly schema: Schema; readonly examples?: Named<{ readonly value: unknown }> };
  };
}

/** As read from a socket. */
export interface RawResponse {
  readonly status: number;
  /** Names are in lower case. Repeated headers are joined by ", ". */
  readonly headers: Readonly<Record<string, string>>;
  /** The body's bytes without chunking. */
  readonly body: string;
}

interface Reference {
  readonly $ref: string;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
}

interface Operation {
  readonly security?: readonly [{ readonly bearerAuth: readonly Scope[] }];
  readonly parameters?: readonly (Parameter | Reference)[];
  readonly requestBody?: { readonly content: Named<{ readonly schema: Reference }> };
  readonly responses: Named<Response | Reference>;
  readonly 'x-stability'?: string;
}

interface Description {
  readonly paths: Named<Named<Operation>>;
  readonly components: Named<Named<unknown>>;
}

/** Pages outside the API. Health, the description and its pages have their own suites. */
const BESIDE = /^\/(?:livez|readyz|openapi\.json|llms\.txt|favicon\.ico|docs|docs\/[\w.-]+)?$/;
/** Headers that HTTP and CORS define for any message. */
const GENERIC: ReadonlySet<string> = new Set([
  'access-control-allow-origin',
  'access-control-expose-headers',
  'connection',
  'content-length',
  'content-type',
  'date',
  'keep-alive',
  'transfer-encoding',
  'vary',
]);
const JSON_TYPE = 'application/json; charset=utf-8';
const ROOT = 'https://adoption-store.example/';

// The committed one, which description.spec.ts holds to the code: nothing of Nest is loaded.
const { paths, components } = JSON.parse(
  readFileSync(join(__dirname, '../../openapi.json'), 'utf8'),
  strictly,
) as Description;
/** Every operation, with a path at which nothing is. */
export const operations = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    ...operation,
    method: method.toUpperCase(),
    path: `/v1${path.replace(/\{\w+\}/g, '4711')}`,
    paths: new RegExp(`^/v1${path.replace(/\{\w+\}/g, '[^/]+')}$`),
  })),
);

const allow: Header = { required: true, schema: { type: 'string', pattern: '^[A-Z]+(?:, [A-Z]+)*$' } };
const refusals = components['responses'] as Named<Response>;
const common = Object.entries(refusals['PayloadTooLarge']?.headers ?? {}).filter(([name]) => name !== 'X-Stability');
const withAllow = { ...Object.fromEntries(common), Allow: allow };

/** Responses to requests that match no operation. OpenAPI can't describe them. */
const elsewhere: Named<Response> = {
  ...Object.fromEntries(Object.values(refusals).map((each) => [statusOf(each), each])),
  405: {
    headers: withAllow,
    content: { 'application/json': { schema: { $ref: `${ROOT}#/components/schemas/Error` } } },
  },
};

function statusOf({ content }: Response): number {
  const [{ value }] = Object.values(content?.['application/json'].examples ?? {}) as [{ value: { status: number } }];
  return value.status;
}

const ajv = new Ajv2020({ strict: false });
formats.default(ajv, ['date-time', 'uri', 'int64']);
ajv.addSchema({ $id: ROOT, components });

/** For answers of our own: a schema has no other properties, words and types of events than it names. */
function strictly(key: string, value: unknown): unknown {
  if (key === '$ref') return ROOT + String(value);
  if (typeof value !== 'object' || value === null) return value;
  if ('not' in value) return false;
  if ('x-extensible-enum' in value) return { ...value, enum: value['x-extensible-enum'] };
  return 'properties' in value ? { ...value, additionalProperties: false } : value;
}

/** What an operation reads: the names of its query's parameters, of its body's fields, and the body's media type. */
export function inputsOf({ parameters = [], requestBody }: Operation) {
  const query = parameters.map((each) => resolved(each)).filter((each) => each.in === 'query');
  const [body] = Object.entries(requestBody?.content ?? {});
  const schema = body && (resolved(body[1].schema) as { readonly properties?: object });
  return { query: query.map(({ name }) => name), fields: Object.keys(schema?.properties ?? {}), type: body?.[0] };
}

/** The names of all headers of all responses. */
export function describedHeaders(): ReadonlySet<string> {
  const described = operations.flatMap(({ responses }) => Object.values(responses)).map((each) => resolved(each));
  return new Set([...described, ...Object.values(elsewhere)].flatMap(({ headers }) => Object.keys(headers)));
}

/** Throws if a response has a status, a header or a property that the description lacks. */
export function expectDescribed(bytes: string | Buffer, responses: readonly RawResponse[]): void {
  const [method = '', target = '/v1'] = bytes.toString('latin1').split(' ', 2);
  for (const response of responses) {
    const problems = problemsOf(method, target, response);
    if (problems.length === 0) continue;
    const shown = JSON.stringify({ ...response, body: response.body.slice(0, 500) });
    throw new Error(
      `the description doesn't have this answer to ${method} ${target}:\n${problems.join('\n')}\n${shown}`,
    );
  }
}

/** The differences between the response and the description. */
function problemsOf(method: string, target: string, response: RawResponse): readonly string[] {
  const path = pathOf(routableUrl({ url: target }));
  if (BESIDE.test(path)) return [];
  // A preflight is of the origin, not of an operation.
  if (method === 'OPTIONS' && response.status === 204 && !('allow' in response.headers)) return [];
  const asked = method === 'HEAD' ? 'GET' : method;
  const operation = operations.find((each) => each.method === asked && each.paths.test(path));
  const described =
    operation === undefined ? elsewhereTo(method, response) : resolved(operation.responses[response.status]);
  if (described === undefined) return [`status ${response.status} is not described`];
  const stability = operation?.['x-stability'];
  return [
    ...(response.headers['x-stability'] === stability ? [] : [`header x-stability is not ${stability}`]),
    ...headerProblems(described, response),
    ...bodyProblems(described, response, method === 'HEAD'),
  ];
}

function elsewhereTo(method: string, { status }: RawResponse): Response | undefined {
  return method === 'OPTIONS' && status === 204 ? { headers: withAllow } : elsewhere[status];
}

function headerProblems({ headers }: Response, response: RawResponse): readonly string[] {
  const described = new Map(Object.entries(headers).map(([name, header]) => [name.toLowerCase(), resolved(header)]));
  const undescribed = Object.keys(response.headers).filter((name) => !described.has(name) && !GENERIC.has(name));
  return [
    ...undescribed.map((name) => `header ${name} is not described`),
    ...[...described].flatMap(([name, header]) => {
      const value = response.headers[name];
      if (value === undefined) return header.required === true ? [`header ${name} is missing`] : [];
      const isNumber = header.schema['type'] === 'integer' && /^\d+$/.test(value);
      return schemaProblems(header.schema, isNumber ? Number(value) : value, `header ${name}`);
    }),
  ];
}

function bodyProblems({ content }: Response, { headers, body }: RawResponse, isHead: boolean): readonly string[] {
  if (content === undefined) return body === '' ? [] : ['the body is not described'];
  const type = headers['content-type'];
  if (type !== JSON_TYPE) return [`content-type ${type} is not described`];
  if (isHead) return body === '' ? [] : ['the answer to HEAD has a body'];
  const { schema, examples = {} } = content['application/json'];
  const value: unknown = JSON.parse(body);
  return [...schemaProblems(schema, value, 'the body'), ...errorProblems(schema, examples, value)];
}

/** An error response lists its codes as examples. The 405 of no operation lists none. */
function errorProblems(
  { $ref }: Schema,
  examples: Named<{ readonly value: unknown }>,
  body: unknown,
): readonly string[] {
  if ($ref !== `${ROOT}#/components/schemas/Error`) return [];
  const described = Object.values(examples).map(({ value }) => value as ErrorBody);
  const { code, status } = body as ErrorBody;
  const isListed = described.length === 0 || described.some((each) => each.code === code && each.status === status);
  return isListed ? [] : [`the code ${code} of status ${status} is not listed`];
}

function schemaProblems(schema: Schema, value: unknown, what: string): readonly string[] {
  if (ajv.validate(schema, value)) return [];
  return (ajv.errors ?? []).map(
    ({ instancePath, message, params }) => `${what}${instancePath} ${message} ${JSON.stringify(params)}`,
  );
}

function resolved(part: Response | Reference): Response;
function resolved(part: Response | Reference | undefined): Response | undefined;
function resolved(part: Header | Reference): Header;
function resolved(part: Parameter | Reference): Parameter;
function resolved(part: Reference): unknown;
function resolved(part: object | undefined): unknown {
  if (part === undefined || !('$ref' in part)) return part;
  const [section = '', name = ''] = String(part.$ref).split('/').slice(-2);
  return components[section]?.[name];
}
