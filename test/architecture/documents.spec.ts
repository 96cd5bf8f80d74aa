import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { apiSettings, commandSettings, portalSettings, workerSettings } from '@adoption-store/config';
import { describe, expect, it } from '@jest/globals';
import {
  alertsWithoutSection,
  brokenLinks,
  clausesAsSubjects,
  incompleteSections,
  misplacedOperations,
  misplacedSettings,
  mostBytes,
  oversized,
  unknownCommands,
  unknownFiles,
  withoutReadme,
  withUnknownSource,
} from './documents.js';
import { fixtures, repository } from './trees.js';

const SETTINGS = Object.keys({ ...apiSettings, ...portalSettings, ...workerSettings, ...commandSettings });
const broken = join(fixtures, 'documents');

describe('the documents', () => {
  it('are short enough to be read', () => {
    expect(oversized(repository)).toEqual([]);
  });

  it('introduce each package, each app, docker and test', () => {
    expect(withoutReadme(repository)).toEqual([]);
  });

  it('link to files and headings that are there', () => {
    expect(brokenLinks(repository)).toEqual([]);
  });

  it('and the sources cite nothing outside the repository', () => {
    expect(withUnknownSource(repository)).toEqual([]);
  });

  it('and the sources have no comment with a clause as its subject', () => {
    expect(clausesAsSubjects(repository)).toEqual([]);
  });

  it('name files and folders that are there', () => {
    expect(unknownFiles(repository)).toEqual([]);
  });

  it('name scripts, workspaces and suites that are there', () => {
    expect(unknownCommands(repository)).toEqual([]);
  });

  it('have each setting in exactly one table', () => {
    expect(misplacedSettings(repository, SETTINGS)).toEqual([]);
  });

  it('name each operation of the API in the README, with its stability', () => {
    expect(misplacedOperations(repository)).toEqual([]);
  });

  it('have a section of the runbook for each alert, which the alert and the runbook’s table link to', () => {
    expect(alertsWithoutSection(repository)).toEqual([]);
  });

  it('say in each section of the runbook what it means, what customers notice, how to look, what to do and when it is over', () => {
    expect(incompleteSections(repository)).toEqual([]);
  });
});

describe('a repository with wrong documents', () => {
  it.each([
    ['README.md', 12_288],
    ['packages/domain/README.md', 8_192],
    ['docker/runbook.md', 8_192],
    ['docker/runbook/api.md', 8_192],
    ['docker/DECISIONS.md', 20_480],
    ['docker/settings.md', 20_480],
    ['apps/api/README.md', 20_480],
  ])('has a limit for the length of %s', (path, bytes) => {
    expect(mostBytes(path)).toBe(bytes);
  });

  it.each(['README.md', 'docker/runbook/api.md'])('fails for a %s that is too long', (path) => {
    const folder = mkdtempSync(join(tmpdir(), 'documents-'));
    try {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), 'x'.repeat(mostBytes(path)));
      expect(oversized(folder)).toEqual([]);
      writeFileSync(join(folder, path), 'x'.repeat(mostBytes(path) + 1));
      expect(oversized(folder)).toEqual([path]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('fails for a package without a README', () => {
    expect(withoutReadme(broken)).toEqual(['apps/api', 'packages/silent', 'test']);
  });

  it('fails for a link to a missing file or heading', () => {
    expect(brokenLinks(broken)).toEqual([
      'README.md: docker/missing.md',
      'README.md: docker/runbook/alerts.md#missing',
    ]);
  });

  it('fails for a citation of something outside it', () => {
    expect(withUnknownSource(broken)).toEqual(['packages/silent/citing.yaml']);
  });

  it('fails for a comment with a clause as its subject', () => {
    expect(clausesAsSubjects(broken)).toEqual([
      'packages/silent/riddle.ts: Who comes while it is busy uses the pool.',
      'test/riddle.spec.ts: Whoever asks again gets the same.',
    ]);
  });

  it('fails for a missing file and a missing folder', () => {
    expect(unknownFiles(broken)).toEqual(['README.md: gone.ts', 'README.md: packages/gone']);
  });

  it('fails for a missing script, workspace and suite', () => {
    expect(unknownCommands(broken)).toEqual([
      'README.md: missing-script',
      'README.md: @adoption-store/missing',
      'README.md: e2e/missing',
    ]);
  });

  it('fails for a setting in no table, and for one in two', () => {
    expect(misplacedSettings(broken, ['GOOD', 'TWICE', 'NOWHERE'])).toEqual([
      'TWICE: README.md, docker/README.md',
      'NOWHERE: in no table',
    ]);
  });

  it('fails for an operation that the README lacks, has without its stability, or made up', () => {
    expect(misplacedOperations(broken)).toEqual([
      'DELETE /v1/cats (beta): not in README.md',
      'GET /v1/cats/{catId} (deprecated): not in README.md',
      'GET /v1/cats/{catId}: no operation',
      'GET /v1/dogs: no operation',
    ]);
  });

  it('fails for an alert without a section, one that does not link to its section, and one that the table lacks', () => {
    expect(alertsWithoutSection(broken)).toEqual(['SilentAlert', 'UnlinkedAlert', 'UnlistedAlert']);
  });

  it('fails for a section without one of its parts', () => {
    expect(incompleteSections(broken)).toEqual(['UnlistedAlert: Meaning, Look, Do, Over']);
  });
});
