import { answers, type Shape } from './generated.js';

const INT64_END = 2n ** 63n;

/** Whether the API's operation, such as `GET /pets`, can have this successful response. */
export function isAnswer(operation: string, status: number, body: unknown): boolean {
  const shape = answers[operation];
  if (shape === null) return status === 204;
  return shape === undefined || fits(body, shape);
}

/** More properties than those of the shape are allowed: the API may add some. */
export function fits(value: unknown, shape: Shape): boolean {
  if (shape === 'int64') return typeof value === 'bigint' && value >= -INT64_END && value < INT64_END;
  if (shape === 'integer') return Number.isInteger(value);
  if (typeof shape === 'string') return typeof value === shape;
  if (0 in shape) {
    if (shape.length === 2) return value === null || fits(value, shape[0]);
    return Array.isArray(value) && value.every((each) => fits(each, shape[0]));
  }
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(shape).every(([name, property]) =>
    fits((value as Readonly<Record<string, unknown>>)[name], property),
  );
}
