import { expect } from '@jest/globals';
import { revertMigrations } from '@adoption-store/infrastructure/testing';
import { ask } from '@adoption-store/test-support';
import { type AllOperations, OPERATIONS } from './all-operations.js';

/**
 * The newest migration that this version needs to serve what the version before served. So one process can take the
 * place of both, before the later migrations and after them.
 */
export const VERSION_BEFORE = 1_700_000_073_000;

/** Milliseconds within which every request is answered. */
const LONGEST_ANSWER = 2_000;

/** Reverts the migrations with a later timestamp, and returns their names, the oldest first. */
export async function revertTo(version: number, url: string): Promise<readonly string[]> {
  const pending = (await migrationsOf(url)).filter((name) => Number(name.slice(-13)) > version);
  await revertMigrations({ connectionString: url }, version);
  expect(pending).not.toEqual([]);
  return pending;
}

/** The names of those that have run. */
export async function migrationsOf(url: string): Promise<readonly string[]> {
  const rows = await ask<{ name: string }>(url, 'SELECT name FROM migrations ORDER BY timestamp');
  return rows.map(({ name }) => name);
}

/** Expects that each operation was used, none failed, and each request was answered in time. */
export async function expectNothingFailed(traffic: AllOperations): Promise<void> {
  await traffic.stop();
  expect(traffic.failures.slice(0, 5)).toEqual([]);
  expect([...traffic.answered.keys()].sort()).toEqual(OPERATIONS);
  expect(traffic.longest.took).toBeLessThan(LONGEST_ANSWER);
}
