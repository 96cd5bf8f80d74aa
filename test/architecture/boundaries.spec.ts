import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import * as infrastructure from '@adoption-store/infrastructure';

const repository = join(__dirname, '../..');

it('no import crosses a boundary', () => {
  const args = [join(__dirname, 'cruise.js'), repository];
  const output = execFileSync(process.execPath, args, { cwd: repository, encoding: 'utf8' });
  const { modules, violations } = JSON.parse(output) as { modules: number; violations: readonly string[] };
  expect(violations).toEqual([]);
  expect(modules).toBeGreaterThan(500);
});

it('infrastructure exports only the function that opens it', () => {
  expect(Object.keys(infrastructure)).toEqual(['openInfrastructure']);
});
