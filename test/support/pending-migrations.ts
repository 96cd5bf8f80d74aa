import { expect } from '@jest/globals';
import { revertMigrations } from '@adoption-store/infrastructure/testing';
import { ask } from '@adoption-store/test-support';

/** Reverts the migrations with a later timestamp, and returns their names, the oldest first. */
export async function revertTo(version: number, url: string): Promise<readonly string[]> {
  const pending = (await migrationsOf(url)).filter((name) => Number(name.slice(-13)) > version);
  await revertMigrations({ connectionString: url }, version);
  expect(pending).not.toEqual([]);
  return pending;
}

/** The names of the migrations that have run. */
export async function migrationsOf(url: string): Promise<readonly string[]> {
  const rows = await ask<{ name: string }>(url, 'SELECT name FROM migrations ORDER BY timestamp');
  return rows.map(({ name }) => name);
}
