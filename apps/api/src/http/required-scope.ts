import type { Scope } from '@adoption-store/domain';
import { SetMetadata } from '@nestjs/common';

/** The key of the metadata on the handler. */
const SCOPE = 'scope';

/** The scope that a request needs for this operation. */
export function RequiresScope(scope: Scope): MethodDecorator {
  return SetMetadata(SCOPE, scope);
}

/** Any valid key may send this request. */
export function RequiresNoScope(): MethodDecorator {
  return SetMetadata(SCOPE, 'none');
}

/** @throws Error if the handler declares neither, which is a defect: nobody has decided who may use it. */
export function requiredScope(handler: object): Scope | 'none' {
  const scope = Reflect.getMetadata(SCOPE, handler) as Scope | 'none' | undefined;
  if (scope === undefined) throw new Error('the handler declares no scope, and not that it needs none');
  return scope;
}
