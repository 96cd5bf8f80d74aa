import { DomainError } from './errors.js';

/**
 * A condition of a change. It is called with the stored entity, which stays locked until the change is stored; undefined
 * if there is none.
 *
 * @throws PreconditionFailed
 */
export type Condition<Entity> = (stored: Entity | undefined) => void;

export class PreconditionFailed extends DomainError {
  /** @param version identifies the content of the stored entity to the caller. Undefined if there is none. */
  constructor(
    condition: string,
    readonly version: string | undefined,
  ) {
    super('precondition_failed', `${condition} does not hold for the resource as it is now`);
  }
}
