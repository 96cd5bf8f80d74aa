import { DEPRECATIONS } from '@adoption-store/web';
import type { MeteredOperation } from '../http/metrics.js';
import { paths } from './paths.js';

/** The operations of the description by method and route, such as `GET /v1/pets/{petId}`. */
export const operations: ReadonlyMap<string, MeteredOperation> = new Map(
  Object.entries(paths as Record<string, Record<string, { readonly operationId: string }>>).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId }]) => {
      const name = `${method.toUpperCase()} /v1${path}`;
      return [name, { id: operationId, sunset: DEPRECATIONS.find(({ operation }) => operation === name)?.sunset }];
    }),
  ),
);
