import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, it } from '@jest/globals';
import { temporaryFolder } from '@adoption-store/test-support';

const repository = join(__dirname, '../..');
const UNREAD = new Set(['node_modules', 'dist', 'coverage', '.git', '.turbo', '.data', '.stryker']);
const AT_THE_TOP = [
  ...['LICENSE', 'README.md', 'package-lock.json', 'package.json', 'tsconfig.base.json', 'turbo.json'],
  ...['apps', 'docker', 'packages', 'test'],
];
// Ignored by .gitignore, except dotfiles.
const IGNORED = /^(?:\.|(?:node_modules|dist|coverage)$)|\.(?:log|tgz)$/;

it('link to files and headings that are there', () => {
  expect(brokenLinks(repository)).toEqual([]);
});

it('name scripts, workspaces and suites that are there', () => {
  expect(unknownCommands(repository)).toEqual([]);
});

it('are told apart from ones with a missing file, heading, script, workspace or suite', async () => {
  const folder = await temporaryFolder();
  writeFileSync(join(folder.path, 'package.json'), '{"name":"adoption-store","scripts":{"build":"tsc"}}');
  writeFileSync(
    join(folder.path, 'README.md'),
    '# Adopt `an` animal\n[a](#adopt-an-animal) [b](#adopt) [c](missing.md) [d](package.json) [e](https://example.com)\n' +
      '`npm run build` `npm run missing` `npm run -s build -w @adoption-store/missing` `(cd test && npx jest missing)`\n',
  );
  expect(brokenLinks(folder.path)).toEqual(['README.md: #adopt', 'README.md: missing.md']);
  expect(unknownCommands(folder.path)).toEqual([
    'README.md: missing',
    'README.md: @adoption-store/missing',
    'README.md: missing',
  ]);
  await folder.remove();
});

it('stand, like everything else, in known places of the top level', () => {
  const names = readdirSync(repository).filter((name) => !IGNORED.test(name));
  expect(names.filter((name) => !AT_THE_TOP.includes(name))).toEqual([]);
});

/** The path of every file of a repository, except installed and generated files. */
function filesOf(root: string, folder = ''): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (!entry.isDirectory()) return entry.isFile() ? [path] : [];
    return UNREAD.has(entry.name) ? [] : filesOf(root, path);
  });
}

/** Relative links of documents, and of alerts to the runbook, with a missing file or heading; each after its file. */
function brokenLinks(root: string): string[] {
  return filesOf(root)
    .filter((path) => path.endsWith('.md') || path.endsWith('/alerts.yml'))
    .flatMap((path) => {
      // Alerts name their sections from the repository's root.
      const [from, links] = path.endsWith('.md') ? [path, /\]\(([^)\s]+)\)/g] : ['README.md', /runbook_url: (\S+)/g];
      return [...prose(root, path).matchAll(links)]
        .map(([, target = '']) => target)
        .filter((target) => !/^[a-z]+:/.test(target) && !leadsSomewhere(root, from, target))
        .map((target) => `${path}: ${target}`);
    });
}

/** Commands of documents with a missing script, workspace or suite; each after its document. */
function unknownCommands(root: string): string[] {
  const files = filesOf(root);
  const manifests = files
    .filter((path) => path.endsWith('package.json'))
    .map((path) => JSON.parse(read(root, path)) as { name: string; scripts?: Readonly<Record<string, string>> });
  const workspaces = manifests.map(({ name }) => name);
  const scripts = manifests.flatMap((manifest) => Object.keys(manifest.scripts ?? {}));
  const suites = files.filter((path) => path.endsWith('.spec.ts'));
  // The changelog names what earlier versions had.
  const documents = files.filter((path) => path.endsWith('.md') && path !== '.github/CHANGELOG.md');
  return documents.flatMap((document) => {
    const text = read(root, document);
    const named = (pattern: RegExp) => Array.from(text.matchAll(pattern), ([, name = '']) => name);
    return [
      ...named(/npm run (?:-s )?([a-z][\w:-]*)/g).filter((name) => !scripts.includes(name)),
      ...named(/(?:--filter=(?:\.\.\.)?|-w )(@adoption-store\/[\w-]+)/g).filter((name) => !workspaces.includes(name)),
      ...[...text.matchAll(/cd ([\w/-]+) && npx jest((?: [\w./-]+)+)\)/g)].flatMap(([, folder = '', names = '']) =>
        names
          .trim()
          .split(/\s+/)
          .filter((name) => !name.startsWith('-'))
          .filter((name) => !suites.some((suite) => suite.startsWith(`${folder}/`) && suite.includes(`/${name}`))),
      ),
    ].map((name) => `${document}: ${name}`);
  });
}

function leadsSomewhere(root: string, from: string, target: string): boolean {
  const [path = '', anchor] = target.split('#');
  const file = path === '' ? from : normalize(join(dirname(from), path));
  if (!existsSync(join(root, file))) return false;
  return anchor === undefined || headings(prose(root, file)).includes(anchor);
}

/** The anchors that GitHub generates for the headings. */
function headings(text: string): string[] {
  return Array.from(text.matchAll(/^#+ (.+)$/gm), ([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

/** The text without its blocks of code. */
function prose(root: string, path: string): string {
  return read(root, path).replace(/^```[\s\S]*?^```/gm, '');
}

function read(root: string, path: string): string {
  return readFileSync(join(root, path), 'utf8');
}
