import { parse } from 'node:querystring';
import { createParamDecorator, type ExecutionContext, type Type } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { validated } from './validation.js';

/** Query strings whose judgement is kept; there are few that many clients send. */
const MOST_KEPT = 1_000;
const LONGEST_KEPT = 256;

/**
 * The query as its class, or refused with the first rule that is broken. The same query string is judged once. The
 * judgement is kept by the text that was parsed for it, not by what a router has made of the request.
 */
export function ValidQuery<Query extends object>(type: Type<Query>): ParameterDecorator {
  const kept = new Map<string, Query>();
  const judge = (text: string): Query => {
    const query = validated(type, parse(text, '&', '=', { maxKeys: 0 }));
    if (text.length > LONGEST_KEPT) return query;
    if (kept.size >= MOST_KEPT) kept.clear();
    kept.set(text, Object.freeze(query));
    return query;
  };
  return createParamDecorator((_data: unknown, context: ExecutionContext): Query => {
    const { url } = context.switchToHttp().getRequest<FastifyRequest>();
    const start = url.indexOf('?');
    const text = start === -1 ? '' : url.slice(start + 1);
    return kept.get(text) ?? judge(text);
  })();
}
