import { int64From, ours, ourText } from '@adoption-store/domain';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { HttpError } from '../answers/error-codes.js';
import { recordInputs } from './operation.js';
import { type Described, parameterIn } from './schema.js';

interface PathParameter {
  readonly name: string;
  readonly description: string;
  readonly schema: Described;
  readonly component?: string | undefined;
}

export function pathParameter(
  { name, description, schema, component }: PathParameter,
  read: (text: string) => unknown,
): () => ParameterDecorator {
  const path = [{ described: parameterIn('path', name, description, schema), component }];
  // A pipe would cost several promises for each request.
  const decorate = createParamDecorator((_data: unknown, context: ExecutionContext): unknown => {
    const { params } = context.switchToHttp().getRequest<FastifyRequest<{ Params: Record<string, string> }>>();
    return read(params[name] ?? '');
  });
  return () => recordInputs({ path }, decorate());
}

/** The same for an id, as a bigint. An id outside 64 bits can't exist, so the error is 404 instead of 400. */
export function pathId(parameter: Omit<PathParameter, 'schema'>): () => ParameterDecorator {
  const schema = { type: 'integer', format: 'int64', examples: [1] };
  return pathParameter({ ...parameter, schema }, (text) => {
    const id = int64From(text);
    if (id !== undefined) return id;
    throw new HttpError('not_found', ours`${ourText(parameter.name)} must be a 64-bit integer, so nothing has it`);
  });
}
