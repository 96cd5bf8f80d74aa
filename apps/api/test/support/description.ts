import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isInt64 } from '@adoption-store/domain';
import { pathOf, routableUrl } from '@adoption-store/web/edge';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { type JsonValue, parseJson } from '../../src/http/operations/strict-json.js';
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

interface Description {
  readonly paths: Named<Named<{ readonly responses: Named<Response | Reference> }>>;
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
const LONGEST_METHOD = 20;
const ROOT = 'https://adoption-store.example/';

// The committed one, which description.spec.ts holds to the code: nothing of Nest is loaded.
const { paths, components } = JSON.parse(
  readFileSync(join(__dirname, '../../openapi.json'), 'utf8'),
) as unknown as Description;
const operations = Object.entries(paths).map(([path, methods]) => ({
  path: new RegExp(`^/v1${path.replace(/\{\w+\}/g, '[^/]+')}$`),
  methods: Object.fromEntries(Object.entries(methods).map(([method, operation]) => [method.toUpperCase(), operation])),
}));

const allow: Header = { required: true, schema: { type: 'string', pattern: '^[A-Z]+(?:, [A-Z]+)*$' } };
const refusals = components['responses'] as Named<Response>;
const common = Object.entries(refusals['PayloadTooLarge']?.headers ?? {}).filter(([name]) => name !== 'X-Stability');
const withAllow = { ...Object.fromEntries(common), Allow: allow };

/** Responses to requests that match no operation. OpenAPI can't describe them. */
const elsewhere: Named<Response> = {
  ...Object.fromEntries(Object.values(refusals).map((each) => [statusOf(each), each])),
  405: { headers: withAllow, content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } } },
};

function statusOf({ content }: Response): number {
  const [{ value }] = Object.values(content?.['application/json'].examples ?? {}) as [{ value: { status: number } }];
  return value.status;
}

const ajv = new Ajv2020({ strictTypes: false, strictRequired: false });
formats.default(ajv, ['date-time', 'uri']);
ajv.addKeyword({ keyword: 'int64', validate: (_is: boolean, value: unknown) => isInt64(exact(value)) });
// The place of schemas in OpenAPI; it validates nothing.
ajv.addKeyword('components');
ajv.addSchema({
  $id: ROOT,
  components: {
    schemas: Object.fromEntries(
      Object.entries(components['schemas'] ?? {}).map(([name, schema]) => [name, closed(schema as Schema)]),
    ),
  },
});

/** Throws if a response has a status, a header or a property that the description lacks. */
export function expectDescribed(bytes: string | Buffer, responses: readonly RawResponse[]): void {
  const lines = requestLines(bytes.toString('latin1'));
  for (const response of responses) {
    const found = lines.map(([method, target]) => problemsOf(method, target, response));
    const [problems] = found;
    if (problems === undefined || found.some(({ length }) => length === 0)) continue;
    const shown = JSON.stringify({ ...response, body: response.body.slice(0, 500) });
    throw new Error(
      `the description doesn't have this answer to ${lines[0]?.join(' ')}:\n${problems.join('\n')}\n${shown}`,
    );
  }
}

/** The request lines in these bytes, which may contain several requests, or a body that looks like one. */
function requestLines(bytes: string): readonly (readonly [method: string, target: string])[] {
  const found = [...bytes.matchAll(/ (\S+) HTTP\/\d\.\d\r?$/gm)].flatMap(({ 1: target = '', index }) => {
    const word = /\S*$/.exec(bytes.slice(Math.max(0, index - LONGEST_METHOD), index))?.[0] ?? '';
    // A request may directly follow a body.
    const behind = /[A-Z]*$/.exec(word)?.[0] ?? '';
    return [word, behind].map((method) => [method, target] as const);
  });
  return found.length === 0 ? [['', '/v1']] : found;
}

/** The differences between the response and the description. */
function problemsOf(method: string, target: string, response: RawResponse): readonly string[] {
  const path = pathOf(routableUrl({ url: target }));
  if (BESIDE.test(path)) return [];
  // A preflight is of the origin, not of an operation.
  if (method === 'OPTIONS' && response.status === 204 && !('allow' in response.headers)) return [];
  const described = describedResponse(method, path, response.status);
  if (described === undefined) return [`status ${response.status} is not described`];
  return [...headerProblems(described, response), ...bodyProblems(described, response, method === 'HEAD')];
}

function describedResponse(method: string, path: string, status: number): Response | undefined {
  const methods = operations.find((operation) => operation.path.test(path))?.methods;
  const operation = methods?.[method === 'HEAD' ? 'GET' : method];
  if (operation !== undefined) return resolved(operation.responses[status]);
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
  try {
    const { schema, examples = {} } = content['application/json'];
    const value = plain(parseJson(Buffer.from(body)));
    return [...schemaProblems(schema, value, 'the body'), ...errorProblems(schema, examples, value)];
  } catch (error) {
    return [String(error)];
  }
}

/** An error response lists its codes as examples. The 405 of no operation lists none. */
function errorProblems(
  { $ref }: Schema,
  examples: Named<{ readonly value: unknown }>,
  body: unknown,
): readonly string[] {
  if ($ref !== '#/components/schemas/Error') return [];
  const described = Object.values(examples).map(({ value }) => value as ErrorBody);
  const { code, status } = body as ErrorBody;
  const isListed = described.length === 0 || described.some((each) => each.code === code && each.status === status);
  return isListed ? [] : [`the code ${code} of status ${status} is not listed`];
}

const validators = new WeakMap<Schema, ValidateFunction>();

function schemaProblems(schema: Schema, value: unknown, what: string): readonly string[] {
  const validate = validators.get(schema) ?? ajv.compile(closed(schema));
  validators.set(schema, validate);
  if (validate(value)) return [];
  return (validate.errors ?? []).map(
    ({ instancePath, message, params }) => `${what}${instancePath} ${message} ${JSON.stringify(params)}`,
  );
}

/** The schema for checking responses: no other properties and words are allowed, and int64s are exact. */
function closed({ $ref, format, type, 'x-extensible-enum': words, ...rest }: Schema): Schema {
  const schema: Record<string, unknown> = Object.fromEntries(
    Object.entries(rest).map(([keyword, value]) => [keyword, closedWithin(keyword, value)]),
  );
  if (words !== undefined) schema['enum'] = words;
  if ($ref !== undefined) schema['$ref'] = `${ROOT}${$ref}`;
  if (format === 'int64') schema['int64'] = true;
  else Object.assign(schema, type !== undefined && { type }, format !== undefined && { format });
  return 'properties' in rest ? { ...schema, additionalProperties: false } : schema;
}

function closedWithin(keyword: string, value: unknown): unknown {
  switch (keyword) {
    case 'items':
      return closed(value as Schema);
    case 'oneOf':
      return (value as readonly Schema[]).map((each) => closed(each));
    case 'properties':
      return Object.fromEntries(Object.entries(value as Named<Schema>).map(([name, each]) => [name, closed(each)]));
    default:
      return value;
  }
}

/** Integers as numbers, except those that a number can't hold. Responses have no other numbers. */
function plain(value: JsonValue): unknown {
  switch (typeof value) {
    case 'bigint':
      return Number.isSafeInteger(Number(value)) ? Number(value) : value;
    case 'number':
      throw new Error(`${value} isn't written as an integer`);
    case 'object':
      if (value === null) return null;
      if (Array.isArray(value)) return value.map(plain);
      return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, plain(each)]));
    default:
      return value;
  }
}

function exact(value: unknown): unknown {
  return Number.isSafeInteger(value) ? BigInt(value as number) : value;
}

function resolved(part: Response | Reference): Response;
function resolved(part: Response | Reference | undefined): Response | undefined;
function resolved(part: Header | Reference): Header;
function resolved(part: object | undefined): unknown {
  if (part === undefined || !('$ref' in part)) return part;
  const [, , section = '', name = ''] = String(part.$ref).split('/');
  return components[section]?.[name];
}
