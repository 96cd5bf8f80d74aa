import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { repository } from './trees.js';

const rows = readFileSync(join(repository, '.github/SECURITY.md'), 'utf8')
  .split('\n')
  .filter((line) => /^\| (?:API\d+|\d+\.\d+\.\d+)\b/.test(line))
  .map((line) => ({
    id: /^\| (\S+)/.exec(line)?.[1] ?? '',
    tests: [...line.matchAll(/`([^`]+\.ts)` "([^"]+)"/g)].map(([, file = '', name = '']) => ({ file, name })),
  }));

/** Whether the file exists and has a test or a group with exactly that name. */
function has({ file, name }: { readonly file: string; readonly name: string }): boolean {
  const path = join(repository, file);
  return existsSync(path) && ["'", '"', '`'].some((quote) => readFileSync(path, 'utf8').includes(quote + name + quote));
}

describe('SECURITY.md', () => {
  it("names each of OWASP's ten risks", () => {
    const risks = rows.map(({ id }) => id).filter((id) => id.startsWith('API'));
    expect(risks).toEqual(Array.from({ length: 10 }, (_, index) => `API${index + 1}:2023`));
  });

  it.each(rows)('proves $id with existing tests', ({ tests }) => {
    expect(tests).not.toEqual([]);
    expect(tests.filter((test) => !has(test))).toEqual([]);
  });

  it('recognises a missing test', () => {
    const file = 'test/architecture/security.spec.ts';
    const name = "names each of OWASP's ten risks";
    expect(has({ file, name })).toBe(true);
    expect(has({ file, name: name.slice(1) })).toBe(false);
    expect(has({ file: 'test/no.spec.ts', name })).toBe(false);
  });
});
