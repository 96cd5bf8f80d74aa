import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { type Condition, ours, ourText, PreconditionFailed } from '@adoption-store/domain';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { HttpError } from '../answers/error-codes.js';
import { recordInputs } from './operation.js';

/** The strong entity tag of a representation (RFC 9110 §8.8.3): equal bytes have equal tags. */
export function entityTag(representation: string): string {
  return `"${hash('sha256', representation)}"`;
}

const PAGE_TAG = '"page-';

/**
 * The tag of a page, which also depends on whether there is a next page: a client that gets 304 must not miss a new
 * one. It is marked as a page's, so that a 412 can have the current tag of the kind that was sent.
 */
export function pageTag(body: string, next?: bigint | string): string {
  return `${PAGE_TAG}${hash('sha256', body + String(next ?? ''))}"`;
}

/**
 * The first condition of the request that doesn't hold, in the order of RFC 9110 §13.2.2.
 *
 * @param tag of the resource. Undefined if the resource doesn't exist.
 * @param another tag of the resource, if it has two.
 */
export function failedCondition(
  { 'if-match': wanted, 'if-none-match': known }: IncomingHttpHeaders,
  tag: string | undefined,
  another?: string,
): 'If-Match' | 'If-None-Match' | undefined {
  // Most requests have no condition.
  if (wanted !== undefined && !isNamed(wanted, [tag, another], 'strong')) return 'If-Match';
  if (known !== undefined && isNamed(known, [tag, another], 'weak')) return 'If-None-Match';
  return undefined;
}

/**
 * Injects the conditions of the request as a function. The use case calls it with the stored, locked entity.
 *
 * @param present serialises the entity as a GET does, because the tag is computed from that text.
 * @param presentPage serialises a page of entities. If given, the tag of a page with this entity alone is its tag, too.
 */
export function Conditions(
  present: (entity: never) => string,
  presentPage?: (page: readonly never[]) => string,
): ParameterDecorator {
  const decorate = createParamDecorator((_data: unknown, context: ExecutionContext): Condition<object> | undefined => {
    const { headers } = context.switchToHttp().getRequest<FastifyRequest>();
    if (headers['if-match'] === undefined && headers['if-none-match'] === undefined) return undefined;
    return (stored) => {
      const entity = stored as never;
      const tag = stored === undefined ? undefined : entityTag(present(entity));
      const ofPage = stored === undefined || presentPage === undefined ? undefined : pageTag(presentPage([entity]));
      requireConditions(headers, tag, ofPage);
    };
  });
  return recordInputs({ isConditional: true }, decorate());
}

/** @throws PreconditionFailed */
function requireConditions(headers: IncomingHttpHeaders, tag: string | undefined, ofPage: string | undefined): void {
  const failed = failedCondition(headers, tag, ofPage);
  if (failed === undefined) return;
  const sent = failed === 'If-Match' ? headers['if-match'] : headers['if-none-match'];
  throw new PreconditionFailed(failed, ofPage !== undefined && sent?.includes(PAGE_TAG) === true ? ofPage : tag);
}

const TAG = String.raw`(W/)?("[\x21\x23-\x7e\x80-\xff]*")`;
const TAGS = new RegExp(TAG, 'g');
// RFC 9110 §13.1.1 and §5.6.1.2, which allows empty elements.
const CONDITION = new RegExp(String.raw`^(?:\*|[\t ,]*${TAG}(?:[\t ]*,[\t ,]*${TAG})*[\t ,]*)$`);

/** @throws HttpError for a condition that is malformed. */
export function requireWellFormedConditions(headers: IncomingHttpHeaders): void {
  requireWellFormed('If-Match', headers['if-match']);
  requireWellFormed('If-None-Match', headers['if-none-match']);
}

function requireWellFormed(name: string, condition: string | undefined): void {
  if (condition === undefined || CONDITION.test(condition)) return;
  throw new HttpError(
    'invalid_parameter',
    ours`${ourText(name)} must be * or entity tags in double quotes, as ETag has them`,
  );
}

/** Whether the condition names one of the tags. A strong comparison never matches a weak tag (RFC 9110 §8.8.3.2). */
function isNamed(condition: string, tags: readonly (string | undefined)[], comparison: 'strong' | 'weak'): boolean {
  if (tags[0] === undefined || condition === '*') return tags[0] !== undefined;
  return [...condition.matchAll(TAGS)].some(
    ([, weak, opaque]) => tags.includes(opaque) && (comparison === 'weak' || weak === undefined),
  );
}
