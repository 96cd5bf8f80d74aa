import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, it } from '@jest/globals';

const repository = join(__dirname, '../..');
const UNREAD = new Set(['node_modules', 'dist', 'coverage', '.git', '.turbo', '.data', '.stryker']);
it('link to files and headings that are there', () => {
  expect(brokenLinks()).toEqual([]);
});

it('name scripts, workspaces and suites that are there', () => {
  expect(unknownCommands()).toEqual([]);
});

/** The path of every file in the folder, except installed and generated files. */
function filesOf(folder = ''): string[] {
  return readdirSync(join(repository, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (!entry.isDirectory()) return entry.isFile() ? [path] : [];
    return UNREAD.has(entry.name) ? [] : filesOf(path);
  });
}

/** Relative links of documents, and of alerts to the runbook, with a missing file or heading; each after its file. */
function brokenLinks(): string[] {
  return filesOf()
    .filter((path) => path.endsWith('.md') || path.endsWith('/alerts.yml'))
    .flatMap((path) => {
      // Alerts name their sections from the repository's root.
      const [from, links] = path.endsWith('.md') ? [path, /\]\(([^)\s]+)\)/g] : ['README.md', /runbook_url: (\S+)/g];
      return [...prose(path).matchAll(links)]
        .map(([, target = '']) => target)
        .filter((target) => !/^[a-z]+:/.test(target) && !leadsSomewhere(from, target))
        .map((target) => `${path}: ${target}`);
    });
}

/** Commands of documents with a missing script, workspace or suite; each after its document. */
function unknownCommands(): string[] {
  const files = filesOf();
  const manifests = files
    .filter((path) => path.endsWith('package.json'))
    .map((path) => JSON.parse(read(path)) as { name: string; scripts?: Readonly<Record<string, string>> });
  const workspaces = manifests.map(({ name }) => name);
  const scripts = manifests.flatMap((manifest) => Object.keys(manifest.scripts ?? {}));
  const suites = files.filter((path) => path.endsWith('.spec.ts'));
  // The changelog names what earlier versions had.
  const documents = files.filter((path) => path.endsWith('.md') && path !== '.github/CHANGELOG.md');
  return documents.flatMap((document) => {
    const text = read(document);
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

function leadsSomewhere(from: string, target: string): boolean {
  const [path = '', anchor] = target.split('#');
  const file = path === '' ? from : normalize(join(dirname(from), path));
  if (!existsSync(join(repository, file))) return false;
  return anchor === undefined || headings(prose(file)).includes(anchor);
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
function prose(path: string): string {
  return read(path).replace(/^```[\s\S]*?^```/gm, '');
}

function read(path: string): string {
  return readFileSync(join(repository, path), 'utf8');
}
