import type { IncomingMessage } from 'node:http';
import { InvalidInput, ours, ourText, TYPED } from '@adoption-store/domain';
import { createParamDecorator, type ExecutionContext, type Type } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { HttpError } from '../answers/error-codes.js';
import { type JsonObject, parseJson } from './strict-json.js';
import { recordInputs } from './operation.js';
import { fieldsOf } from './resource-schemas.js';
import { type Fault, invalidInput, judged } from './validation.js';

const JSON_TYPE = 'application/json';
/** RFC 7396 §4. A JSON Merge Patch may also be sent as JSON. */
export const MERGE_PATCH = [JSON_TYPE, 'application/merge-patch+json'] as const;

interface BodyRules<Body> {
  readonly mediaTypes?: readonly string[];
  /** The domain's rules for the values. A refused body is held to them too, so that all its faults are told together. */
  readonly check?: (body: Body) => unknown;
  /** What the resource is called, and its properties. Others are then refused, and not ignored. */
  readonly known?: { readonly resource: string; readonly properties: readonly string[] };
}

/**
 * Injects the body as an instance of its class, with only the exposed properties, or refuses it with all that is wrong.
 * The body is parsed after the guards have run.
 */
export function JsonBody<Body extends object>(type: Type<Body>, rules: BodyRules<Body> = {}): ParameterDecorator {
  const read = createParamDecorator(async (_data: unknown, context: ExecutionContext): Promise<Body> => {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    return bodyFrom(type, objectFrom(await bodyOf(request)), rules);
  });
  return recordInputs({ body: { type, mediaTypes: rules.mediaTypes ?? [JSON_TYPE] } }, read());
}

/** @throws HttpError with the faults, in the order of the description. */
export function bodyFrom<Body extends object>(type: Type<Body>, given: JsonObject, rules: BodyRules<Body> = {}): Body {
  const { input: body, faults } = judged(type, given);
  const { known, check } = rules;
  const unknown = known === undefined ? [] : Object.keys(given).filter((name) => !known.properties.includes(name));
  if (faults.length + unknown.length === 0) return body;
  const fields = fieldsOf(type);
  const all = [...faults, ...faultsOfValues(body, faults, check)];
  const told = fields.flatMap((field) => all.filter(({ property }) => property === field));
  throw invalidInput(told, {
    unknown,
    known: fields,
    one: `a property of ${known?.resource}`,
    several: `properties of ${known?.resource}`,
    rule: `only ${fields.join(', ')} can be set`,
  });
}

/** What the domain refuses of a body without the properties that are faulty already. */
function faultsOfValues<Body extends object>(
  body: Body,
  faults: readonly Fault[],
  check: BodyRules<Body>['check'],
): readonly Fault[] {
  const sound = Object.entries(body).filter(([name]) => !faults.some(({ property }) => property === name));
  try {
    check?.(Object.fromEntries(sound) as Body);
    return [];
  } catch (error) {
    if (!(error instanceof InvalidInput)) throw error;
    return error.problems.map(({ field, rule, kept = TYPED }) => ({
      property: field,
      message: `${field} ${rule}`,
      kept: `${field} ${kept}`,
    }));
  }
}

/** Refuses a request whose `Content-Type` isn't one of the operation's media types. */
export function requireMediaType(mediaTypes: readonly string[], { headers }: IncomingMessage): void {
  if (!isOneOf(mediaTypes, headers['content-type'] ?? '')) {
    const allowed = mediaTypes.join(' or ');
    throw new HttpError('unsupported_media_type', ours`the Content-Type header must be ${ourText(allowed)}, in UTF-8`);
  }
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity')
    throw new HttpError('unsupported_media_type', ours`the body must be sent without a Content-Encoding`);
}

function objectFrom(bytes: Buffer): JsonObject {
  const value = parseJson(bytes);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new HttpError('invalid_json', ours`the body must be a JSON object`);
  return value;
}

// RFC 9110 §8.3.1. Each character can match in only one way, so that matching takes linear time.
const TOKEN = String.raw`[!#$%&'*+.^\x60|~\w-]+`;
const PARAMETER = String.raw`;[\t ]*(${TOKEN})=(${TOKEN}|"(?:[^"\\]|\\.)*")`;
const MEDIA_TYPE = new RegExp(String.raw`^(${TOKEN}/${TOKEN})(?:[\t ]*(?:${PARAMETER}|;))*[\t ]*$`);
const PARAMETERS = new RegExp(PARAMETER, 'g');

function isOneOf(mediaTypes: readonly string[], contentType: string): boolean {
  if (mediaTypes.includes(contentType)) return true;
  const mediaType = MEDIA_TYPE.exec(contentType)?.[1]?.toLowerCase();
  if (mediaType === undefined || !mediaTypes.includes(mediaType)) return false;
  // Not Node's MIMEType, which skips malformed parameters and uses the first of two charsets.
  return [...contentType.matchAll(PARAMETERS)].every(([, name = '', value = '']) => {
    // `charset*` is a form of RFC 8187, which media types don't have.
    const [parameter, extension] = name.toLowerCase().split('*');
    return parameter !== 'charset' || (extension === undefined && isUtf8(value.replace(/^"|"$|\\(.)/g, '$1')));
  });
}

/** Whether the Encoding Standard knows UTF-8 by this label. RFC 8259 §8.1 allows no other encoding. */
function isUtf8(label: string): boolean {
  try {
    return new TextDecoder(label).encoding === 'utf-8';
  } catch {
    return false;
  }
}

export async function bodyOf({ received }: FastifyRequest): Promise<Buffer> {
  return received === undefined ? Buffer.alloc(0) : received.whole;
}
