import type { Scope } from '@adoption-store/domain';
import type { Deprecation } from '@adoption-store/web';
import {
  applyDecorators,
  Delete,
  Get,
  HttpCode,
  Patch,
  Post,
  Put,
  SetMetadata,
  type Type,
  UseInterceptors,
} from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { WriteTurnInterceptor } from './turns.js';
import { DeprecationNotice } from './deprecation.js';
import type { Described, DescribedParameter } from './schema.js';

const ROUTES = { GET: Get, POST: Post, PUT: Put, PATCH: Patch, DELETE: Delete };

type Method = keyof typeof ROUTES;
/** Method and path, such as `GET /v1/pets/{petId}`. */
type Route = `${Method} /v1/${string}`;
type SuccessStatus = 200 | 201 | 202 | 204;

interface Definition {
  readonly id: string;
  /** The scope that a request needs, or several. With `none` any valid key may send it. */
  readonly scope: Scope | readonly Scope[] | 'none';
  /** How likely the operation is to change. A stable one has no level. */
  readonly stability?: 'beta' | 'experimental';
  readonly deprecation?: Deprecation;
  readonly summary: string;
  /** The published description also names the scope, and the end of a deprecated operation. */
  readonly description: string;
  readonly examples?: Described;
  /** By status. Nest sends the lowest one unless the handler sets another. Without content there is no body. */
  readonly success: Readonly<Partial<Record<SuccessStatus, readonly [description: string, content?: Described]>>>;
  /** The errors that don't follow from the method, the scope and the conditions. */
  readonly refusals?: readonly (404 | 409 | 410)[];
  /**
   * What a POST does with an `Idempotency-Key`. Default: it runs once. `refused`: the response has a secret, so it
   * can't be stored. `ignored`: repeating the request does no harm.
   */
  readonly idempotencyKey?: 'refused' | 'ignored';
  /**
   * Where a write waits for its turn (`Turns`). Default: in line with the account's other writes. `batched`: in a line
   * of its own, because it shares a statement with writes that arrive together, unless it has an `Idempotency-Key`.
   * `slow`: in another line, because it calls foreign servers.
   */
  readonly turns?: 'batched' | 'slow';
  /** True if a request spends no quota, because each key has a bucket for this operation alone. */
  readonly hasOwnBucket?: boolean;
  /** False for a GET whose response differs at each request. */
  readonly hasEntityTag?: boolean;
}

interface Inputs {
  readonly path?: readonly DescribedParameter[];
  readonly query?: Type<object>;
  readonly body?: { readonly type: Type<object>; readonly mediaTypes: readonly string[] };
  /** Whether `If-Match` and `If-None-Match` are evaluated. A GET with an entity tag always does. */
  readonly isConditional?: boolean;
}

export interface DefinedOperation extends Omit<Definition, 'deprecation' | 'scope'>, Inputs {
  /** A request needs all of them. */
  readonly scopes: readonly Scope[];
  readonly route: Route;
  readonly method: Method;
  /** Undefined unless the operation is deprecated. */
  readonly notice: DeprecationNotice | undefined;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The called operation. Set by `ScopesGuard`, once the request may use it. */
    operation?: DefinedOperation;
  }
  interface FastifyContextConfig {
    /** Undefined for pages outside the API and for unknown routes. */
    operation?: DefinedOperation;
  }
}

const INPUTS = 'inputs';
const OPERATION = 'operation';

export function recordInputs(inputs: Inputs, decorate: ParameterDecorator): ParameterDecorator {
  return (controller, handler, index) => {
    decorate(controller, handler, index);
    if (handler === undefined) throw new Error('only a parameter of a method can be decorated');
    const method = Reflect.get(controller, handler) as object;
    const known = inputsOf(method);
    // Decorators run from the last parameter to the first.
    const path = [...(inputs.path ?? []), ...(known.path ?? [])];
    Reflect.defineMetadata(INPUTS, { ...known, ...inputs, path }, method);
  };
}

export function Operation(route: Route, definition: Definition): MethodDecorator {
  const [method, path] = route.split(' ') as [Method, string];
  return (controller, name, descriptor) => {
    // The decorators of the parameters have run before this one.
    const inputs = inputsOf(descriptor.value as object);
    const { deprecation, scope, ...others } = definition;
    const scopes = scope === 'none' ? [] : [scope].flat();
    const notice = deprecation && new DeprecationNotice(deprecation);
    const isConditional = method === 'GET' ? definition.hasEntityTag !== false : inputs.isConditional === true;
    const waitsForTurn = method !== 'GET' && definition.turns !== 'batched';
    const operation: DefinedOperation = { ...others, ...inputs, scopes, isConditional, route, method, notice };
    applyDecorators(
      ROUTES[method](path.replace(/\{(\w+)\}/g, ':$1')),
      HttpCode(Number(Object.keys(definition.success)[0])),
      SetMetadata(OPERATION, operation),
      RouteConfig({ operation }),
      ...(waitsForTurn ? [UseInterceptors(WriteTurnInterceptor)] : []),
    )(controller, name, descriptor);
  };
}

export function operationsOf(controllers: readonly Type<object>[]): readonly DefinedOperation[] {
  return controllers
    .flatMap(({ prototype }) => Object.values(Object.getOwnPropertyDescriptors(prototype as object)))
    .map(({ value }) => Reflect.getMetadata(OPERATION, value as object) as DefinedOperation | undefined)
    .filter((operation) => operation !== undefined);
}

function inputsOf(handler: object): Inputs {
  return (Reflect.getMetadata(INPUTS, handler) as Inputs | undefined) ?? {};
}
