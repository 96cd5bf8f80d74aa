import { parse } from 'node:querystring';
import { queryOf } from '@adoption-store/web/edge';
import { createParamDecorator, type ExecutionContext, type Type } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { recordInputs } from './operation.js';
import { parameterNames, readQuery } from './query-parameters.js';
import { invalidInput } from './validation.js';

/** Most cached query strings. Many clients send the same few. */
const MOST_KEPT = 1_000;
const LONGEST_KEPT = 256;

/**
 * Injects the query as an instance of its class, or refuses it with all that is wrong. The result is cached by the
 * query's text, so the same text isn't validated again.
 */
export function ValidQuery<Query extends object>(type: Type<Query>): ParameterDecorator {
  const kept = new Map<string, Query>();
  const validate = (text: string): Query => {
    const parsed = parameters(text);
    const { query, faults } = readQuery(type, parsed);
    const names = parameterNames(Object.keys(parsed), type);
    if (faults.length + names.unknown.length > 0) throw invalidInput(faults, names);
    if (text.length > LONGEST_KEPT) return query;
    if (kept.size >= MOST_KEPT) kept.clear();
    kept.set(text, Object.freeze(query));
    return query;
  };
  const decorate = createParamDecorator((_data: unknown, context: ExecutionContext): Query => {
    const text = queryOf(context.switchToHttp().getRequest<FastifyRequest>().url);
    return kept.get(text) ?? validate(text);
  });
  return recordInputs({ query: type }, decorate());
}

/** Refuses all parameters, for an operation that takes none. `ValidQuery` checks those of the others. */
export function refuseQuery(url: string): void {
  const names = parameterNames(Object.keys(parameters(queryOf(url))));
  if (names.unknown.length > 0) throw invalidInput([], names);
}

function parameters(text: string) {
  return parse(text, '&', '=', { maxKeys: 0, decodeURIComponent: decoded });
}

/** What isn't UTF-8 gets a lone surrogate, which no parameter accepts. Node.js would read U+FFFD. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return `${text}\ud800`;
  }
}
