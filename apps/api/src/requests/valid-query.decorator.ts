import { parse } from 'node:querystring';
import { createParamDecorator, type ExecutionContext, type Type } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { validated } from './validation.js';

/** Query strings whose result is cached. Many clients send the same few. */
const MOST_KEPT = 1_000;
const LONGEST_KEPT = 256;

/**
 * Injects the query as an instance of its class, or refuses it with the first broken rule. A query string is validated
 * once; the cache key is the text that was parsed, not the router's version of it.
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
