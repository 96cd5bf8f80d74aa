import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { type Condition, PreconditionFailed } from '@adoption-store/domain';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { HttpRefusal } from '../answers/error-codes.js';
import { recordInputs } from './operation.js';

/** The strong entity tag of a representation (RFC 9110 §8.8.3): equal bytes have equal tags. */
export function entityTag(representation: string): string {
  return `"${hash('sha256', representation)}"`;
}

/**
 * The first condition of the request that doesn't hold, in the order of RFC 9110 §13.2.2.
 *
 * @param tag of the resource. Undefined if the resource doesn't exist.
 */
export function failedCondition(
  { 'if-match': wanted, 'if-none-match': known }: IncomingHttpHeaders,
  tag: string | undefined,
): 'If-Match' | 'If-None-Match' | undefined {
  // Most requests have no condition.
  if (wanted !== undefined && !isNamed(wanted, tag, 'strong')) return 'If-Match';
  if (known !== undefined && isNamed(known, tag, 'weak')) return 'If-None-Match';
  return undefined;
}

/**
 * Injects the conditions of the request as a function. The use case calls it with the stored entity, while that is
 * locked.
 *
 * @param present serialises the entity as a GET does, because the tag is computed from that text.
 */
export function Conditions(present: (entity: never) => string): ParameterDecorator {
  const decorate = createParamDecorator((_data: unknown, context: ExecutionContext): Condition<object> | undefined => {
    const { headers } = context.switchToHttp().getRequest<FastifyRequest>();
    if (headers['if-match'] === undefined && headers['if-none-match'] === undefined) return undefined;
    return (stored) => {
      const tag = stored === undefined ? undefined : entityTag(present(stored as never));
      const failed = failedCondition(headers, tag);
      if (failed !== undefined) throw new PreconditionFailed(failed, tag);
    };
  });
  return recordInputs({ isConditional: true }, decorate());
}

const TAG = String.raw`(W/)?("[\x21\x23-\x7e\x80-\xff]*")`;
const TAGS = new RegExp(TAG, 'g');
// RFC 9110 §13.1.1 and §5.6.1.2, which allows empty elements.
const CONDITION = new RegExp(String.raw`^(?:\*|[\t ,]*${TAG}(?:[\t ]*,[\t ,]*${TAG})*[\t ,]*)$`);

/** @throws HttpRefusal for a condition that is malformed. */
export function requireWellFormedConditions(headers: IncomingHttpHeaders): void {
  requireWellFormed('If-Match', headers['if-match']);
  requireWellFormed('If-None-Match', headers['if-none-match']);
}

function requireWellFormed(name: string, condition: string | undefined): void {
  if (condition === undefined || CONDITION.test(condition)) return;
  throw new HttpRefusal('invalid_parameter', `${name} must be * or entity tags in double quotes, as ETag has them`);
}

/** Whether the condition names the tag. A strong comparison never matches a weak tag (RFC 9110 §8.8.3.2). */
function isNamed(condition: string, tag: string | undefined, comparison: 'strong' | 'weak'): boolean {
  if (tag === undefined || condition === '*') return tag !== undefined;
  return [...condition.matchAll(TAGS)].some(
    ([, weak, opaque]) => opaque === tag && (comparison === 'weak' || weak === undefined),
  );
}
