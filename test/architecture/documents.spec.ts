import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { apiSettings, commandSettings, portalSettings, workerSettings } from '@adoption-store/config';
import { describe, expect, it } from '@jest/globals';
import {
  alertsWithoutSection,
  brokenLinks,
  clausesAsSubjects,
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

  it('have a section of the runbook for each alert, which the alert links to', () => {
    expect(alertsWithoutSection(repository)).toEqual([]);
  });
});

describe('a repository with wrong documents', () => {
  it.each(['README.md', 'docker/runbook.md', 'apps/api/README.md', 'packages/domain/README.md'])(
    'has a limit for the length of %s',
    (path) => {
      expect(mostBytes(path)).toBe({ 'README.md': 12_288, 'packages/domain/README.md': 8_192 }[path] ?? 20_480);
    },
  );

  it('fails for a README that is too long', () => {
    const folder = mkdtempSync(join(tmpdir(), 'documents-'));
    try {
      writeFileSync(join(folder, 'README.md'), 'x'.repeat(mostBytes('README.md')));
      expect(oversized(folder)).toEqual([]);
      writeFileSync(join(folder, 'README.md'), 'x'.repeat(mostBytes('README.md') + 1));
      expect(oversized(folder)).toEqual(['README.md']);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('fails for a package without a README', () => {
    expect(withoutReadme(broken)).toEqual(['packages/silent', 'test']);
  });

  it('fails for a link to a missing file or heading', () => {
    expect(brokenLinks(broken)).toEqual(['README.md: docker/missing.md', 'README.md: docker/runbook.md#missing']);
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

  it('fails for an alert without a section, and for one that does not link to its section', () => {
    expect(alertsWithoutSection(broken)).toEqual(['SilentAlert', 'UnlinkedAlert']);
  });
});
