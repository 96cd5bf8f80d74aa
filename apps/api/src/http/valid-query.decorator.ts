import { createParamDecorator, type ExecutionContext, type Type } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { validQuery } from './validation.js';

/** Query strings whose judgement is kept; there are few that many clients send. */
const MOST_KEPT = 1_000;
const LONGEST_KEPT = 256;

/** The query as its class, or refused with the first rule that is broken. The same query string is judged once. */
export function ValidQuery<Query extends object>(type: Type<Query>): ParameterDecorator {
  const kept = new Map<string, Query>();
  const judge = (request: FastifyRequest, text: string): Query => {
    const query = validQuery(type, request.query);
    if (kept.size >= MOST_KEPT) kept.clear();
    if (text.length <= LONGEST_KEPT) kept.set(text, Object.freeze(query));
    return query;
  };
  return createParamDecorator((_data: unknown, context: ExecutionContext): Query => {
    const request = context.getArgByIndex<FastifyRequest>(0);
    const start = request.url.indexOf('?');
    const text = start === -1 ? '' : request.url.slice(start);
    return kept.get(text) ?? judge(request, text);
  })();
}
