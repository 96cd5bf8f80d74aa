import { expect } from '@jest/globals';
import type pg from 'pg';
import { type Answer, isSuccess, type LoadKeys } from './load.js';
import type { Environment } from '@adoption-store/test-support';
import { issueKey } from './services.js';

/** Milliseconds. Ten times what is promised for each answer, because the machine may be busy. */
const LONGEST_ANSWER = 20_000;
/** Milliseconds for which a request waits for the database, less 50 ms because timers are rounded. */
const SHORTEST_TIMER = 1_250;

/** A key that no load exhausts, and a revoked one. */
export async function issueKeys(environment: Environment, client: pg.Client): Promise<LoadKeys> {
  const key = await issueKey(environment, 'load@example.com');
  const revoked = await issueKey(environment, 'revoked@example.com');
  await client.query(`
    UPDATE api_keys SET revoked_at = now() FROM accounts
    WHERE accounts.id = account_id AND email = 'revoked@example.com'`);
  return { key, revoked };
}

/** Adds animals, each for one order. */
export async function addPets(client: pg.Client, count: number): Promise<Iterator<number>> {
  const { rows } = await client.query<{ id: string }>(
    `INSERT INTO animals (name, name_key, category_id, status)
     SELECT 'free', 'free', 1, 'available' FROM generate_series(1, $1) RETURNING id`,
    [count],
  );
  return rows.map(({ id }) => Number(id)).values();
}

/** Expects that each response came in time, was expected or 503 with Retry-After, and accepted no invalid key. */
export function expectBoundedAnswers(answers: readonly Answer[]): void {
  const isAllowed = (answer: Answer) =>
    isRefusal(answer) || (answer.what === 'stranger' ? answer.status === 401 : isSuccess(answer));
  expect(answers.filter((answer) => !isAllowed(answer)).slice(0, 5)).toEqual([]);
  expect(answers.filter(({ begin, end }) => end - begin >= LONGEST_ANSWER)).toEqual([]);
}

function isRefusal({ status, retryAfter, body }: Answer): boolean {
  return status === 503 && /^[1-9]\d*$/.test(retryAfter ?? '') && body.includes('"code":"service_unavailable"');
}

/** Whether a request was refused because it waited for too long. On a busy machine this isn't a defect. */
export function isLate(answer: Answer): boolean {
  return isRefusal(answer) && answer.end - answer.begin >= SHORTEST_TIMER;
}

/**
 * Expects an attempt without a failure. It is repeated only if the machine was busy: all failures are refusals, and at
 * least one of them came after a long wait. Any other failure, such as a request that was cut off or refused too early,
 * fails the test at once.
 */
export async function expectNoFailure(attempt: (time: number) => Promise<readonly Answer[]>): Promise<void> {
  for (let time = 1; ; time += 1) {
    const failures = await attempt(time);
    if (failures.length === 0) return;
    const isBusy = failures.every(isRefusal) && failures.some(isLate);
    if (!isBusy || time === 5) expect(failures.slice(0, 5)).toEqual([]);
  }
}
