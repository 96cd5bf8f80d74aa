import { expect } from '@jest/globals';
import type pg from 'pg';
import { type Answer, isSuccess, type LoadKeys, slowest } from './load.js';
import { API, type Environment, KEYS, run, Running } from '@adoption-store/test-support';

/** Milliseconds within which every request is answered, whatever has failed. */
const LONGEST_ANSWER = 2_000;
/** Milliseconds within which everything works again after the database is back; a second is promised where nothing else runs. */
const LONGEST_RECOVERY = 10_000;

export async function startService(environment: Environment): Promise<{ service: Running; origin: string }> {
  const settings = {
    PORT: '0',
    HOST: '127.0.0.1',
    LOG_LEVEL: 'fatal',
    ADDRESS_LIMIT: '1000000',
    ORDER_LIMIT: '100000',
    ...environment,
  };
  const service = new Running(API, [], settings);
  return { service, origin: (await service.prints(/Address {2}(\S+)\/v1/))[1] ?? '' };
}

/** A key that no load exhausts, and a revoked one. */
export async function issueKeys(environment: Environment, client: pg.Client): Promise<LoadKeys> {
  const plan = ['--plan', 'enterprise', '--per-minute', '2000000000', '--per-day', '2000000000'];
  const [key = '', revoked = ''] = await Promise.all(
    ['load@example.com', 'revoked@example.com'].map(async (email) =>
      (await run(KEYS, ['create', '--email', email, ...plan], environment)).stdout.trim(),
    ),
  );
  await client.query(`
    UPDATE api_keys SET revoked_at = now() FROM accounts
    WHERE accounts.id = account_id AND email = 'revoked@example.com'`);
  return { key, revoked };
}

/** New animals, for one order each. */
export async function addPets(client: pg.Client, count: number): Promise<Iterator<number>> {
  const { rows } = await client.query<{ id: string }>(
    `INSERT INTO animals (name, category_id, status)
     SELECT 'free', 1, 'available' FROM generate_series(1, $1) RETURNING id`,
    [count],
  );
  return rows.map(({ id }) => Number(id)).values();
}

/**
 * Expects that each response was in time, was an expected one or 503 with Retry-After, and admitted no invalid key.
 *
 * @param calm milliseconds of the slowest answer without a fault, which a slow machine adds.
 */
export function expectBoundedAnswers(answers: readonly Answer[], calm = 0): void {
  expect(answers.filter((answer) => !isAllowed(answer)).slice(0, 5)).toEqual([]);
  expect(slowest(answers)).toBeLessThan(LONGEST_ANSWER + 5 * calm);
}

function isAllowed({ what, status, retryAfter, body }: Answer): boolean {
  if (status === 503) return /^[1-9]\d*$/.test(retryAfter ?? '') && body.includes('"code":"service_unavailable"');
  return what === 'stranger' ? status === 401 : status >= 200 && status < 300;
}

/**
 * Expects no failure later than that after the database's return. Returns the milliseconds that the recovery took.
 */
export function expectRecovery(answers: readonly Answer[], back: number): number {
  const failed = answers.filter((answer) => answer.begin >= back && answer.status === 503);
  const took = Math.round(failed.reduce((most, { end }) => Math.max(most, end - back), 0));
  expect(took).toBeLessThan(LONGEST_RECOVERY);
  return took;
}

/**
 * Expects an attempt without a failure. A busy machine is late, and what is late is refused, so one of three is enough: a
 * defect fails each.
 */
export async function expectNoFailure(attempt: (time: number) => Promise<readonly Answer[]>): Promise<void> {
  let failures: readonly Answer[] = [];
  for (let time = 1; time <= 3; time += 1) {
    failures = await attempt(time);
    if (failures.length === 0) return;
  }
  expect(failures.slice(0, 5)).toEqual([]);
}

/** Prints the figures if more than one round was requested. */
export function tell(fault: string, figures: string): void {
  if (process.env['FAULT_ROUNDS'] !== undefined) console.log(`${fault}: ${figures}`);
}

export function countOf(answers: readonly Answer[]): string {
  const failed = answers.filter((answer) => answer.what !== 'stranger' && !isSuccess(answer)).length;
  return `${answers.length} answers, ${failed} of them 503, the slowest ${slowest(answers)} ms`;
}
