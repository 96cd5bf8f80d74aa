import { type Condition, PreconditionFailed } from '../kernel/condition.js';

/** A condition for tests: the stored entity must have exactly these fields. Undefined: none must be stored. */
export function unchanged<Entity extends object>(wanted: Entity | undefined): Condition<Entity> {
  return (stored) => {
    if (textOf(stored) !== textOf(wanted)) throw new PreconditionFailed('the condition', textOf(stored));
  };
}

function textOf(entity: object | undefined): string | undefined {
  return entity && Object.entries(entity).sort().join();
}
