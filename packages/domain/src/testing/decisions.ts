import type { DomainErrorCode } from '../errors.js';
import { DomainError } from '../kernel/errors.js';
import type { TestFramework } from './suites/framework.js';

/**
 * Tests of a decide function, one line per case: `given(state).when(command).then(outcome)`, or `.thenRefused(code)`.
 * The descriptions before the values form the test's name.
 */
export function decisions<State, Command, Outcome>(
  { it, expect }: Pick<TestFramework, 'it' | 'expect'>,
  decide: (state: State, command: Command) => Outcome,
) {
  return (given: string, state: State) => ({
    when: (when: string, command: Command) => ({
      then: (then: string, outcome: Outcome) => {
        it(`given ${given}, when ${when}, then ${then}`, () => {
          expect(decide(state, command)).toEqual(outcome);
        });
      },
      thenRefused: (code: DomainErrorCode, message = '') => {
        it(`given ${given}, when ${when}, then it is refused: ${code}`, () => {
          const refusal = refusalOf(() => decide(state, command));
          expect(refusal?.code).toBe(code);
          expect(refusal?.message).toContain(message);
        });
      },
    }),
  });
}

function refusalOf(decide: () => unknown): DomainError | undefined {
  try {
    decide();
    return undefined;
  } catch (error) {
    if (error instanceof DomainError) return error;
    throw error;
  }
}
