import { DomainError, kernelErrors, ours, ourText } from './errors.js';

/**
 * A condition of a change. It is called with the stored entity, if any, which is locked until the change is stored.
 *
 * @throws PreconditionFailed
 */
export type Condition<Entity> = (stored: Entity | undefined) => void;

export class PreconditionFailed extends DomainError {
  /** @param version identifies the current content of the stored entity. Undefined if there is no such entity. */
  constructor(
    condition: string,
    readonly version: string | undefined,
  ) {
    super(kernelErrors.precondition_failed, ours`${ourText(condition)} does not hold for the resource as it is now`);
  }
}
