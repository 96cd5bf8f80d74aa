import { type Condition, PreconditionFailed } from '../kernel/condition.js';

/** A condition for tests: what is stored has exactly these fields. Undefined: nothing is stored. */
export function unchanged<Entity extends object>(wanted: Entity | undefined): Condition<Entity> {
  return (stored) => {
    if (textOf(stored) !== textOf(wanted)) throw new PreconditionFailed('the condition', textOf(stored));
  };
}

function textOf(entity: object | undefined): string | undefined {
  return entity && Object.entries(entity).sort().join();
}
