import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { parse } from 'yaml';

const UNREAD = new Set(['node_modules', 'dist', 'coverage', 'fixtures', '.git', '.turbo', '.data', '.stryker']);
// It describes earlier versions, whose files may no longer exist.
const HISTORY = '.github/CHANGELOG.md';
const FILE_NAME = /^[\w.-][\w./-]*\.(?:ts|mjs|cjs|js|eta|sh|yaml|yml|json|css|html|md|cfg)$/;

// A folder named from the root, or from its package.
const FOLDER_NAME = /^(?:apps|packages|docker|test|src|architecture)\/[\w/-]+$/;

// Comments that begin a line: a block, or lines that follow each other.
const COMMENT = /^[ \t]*\/\*[^]*?\*\/|(?:^[ \t]*\/\/.*\n)+/gm;
const COMMENT_MARKS = /^[ \t]*(?:\/\*\*?|\*\/|\*|\/\/)|\*\/$/gm;
const CLAUSE_AS_SUBJECT = /(?:^ ?|[.:;] )((?:What|Whatever|Who|Whoever|Whom|Whose) [^.?]*(?:\.|$))/g;

const RUNBOOK = 'docker/runbook.md';
/** The parts of a section of the runbook, in their order. */
const PARTS = ['Meaning', 'Customers', 'Look', 'Do', 'Over'];

interface Operation {
  readonly responses?: unknown;
  readonly deprecated?: boolean;
  readonly 'x-stability'?: string;
}

/** The path of every file of a repository, except installed and generated files. */
export function filesOf(repository: string, folder = ''): string[] {
  return readdirSync(join(repository, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (!entry.isDirectory()) return entry.isFile() ? [path] : [];
    return UNREAD.has(entry.name) ? [] : filesOf(repository, path);
  });
}

export function documentsOf(repository: string): string[] {
  return filesOf(repository).filter((path) => path.endsWith('.md'));
}

/** Documents that people look things up in, instead of reading them from beginning to end. */
const REFERENCES = /(?:^|\/)DECISIONS\.md$|^apps\/api\/README\.md$|^docker\/settings\.md$/;

/** The most bytes of a document. */
export function mostBytes(document: string): number {
  if (document === 'README.md') return 12 * 1_024;
  return (REFERENCES.test(document) ? 20 : 8) * 1_024;
}

/** Checks the introductions, the decisions and the operator's pages; the others are records. */
export function oversized(repository: string): string[] {
  return documentsOf(repository)
    .filter((path) => /(?:^|\/)(?:README|DECISIONS)\.md$|^docker\//.test(path))
    .filter((path) => statSync(join(repository, path)).size > mostBytes(path));
}

/** Packages, apps and other owned folders without a README. */
export function withoutReadme(repository: string): string[] {
  const owned = ['apps', 'packages'].flatMap((parent) =>
    readdirSync(join(repository, parent), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => join(parent, name)),
  );
  return [...owned, 'docker', 'test'].filter((folder) => !existsSync(join(repository, folder, 'README.md')));
}

/** Files that cite the planning documents, which readers of the repository don't have. */
export function withUnknownSource(repository: string): string[] {
  return filesOf(repository)
    .filter((path) => /\.(?:ts|mjs|js|md|sh|yaml|yml|cfg|eta)$/.test(path))
    .filter((path) => /\b(?:requirements|contract|architecture)\.md\b/.test(read(repository, path)));
}

/** Relative links with a missing file or heading, each after its document. */
export function brokenLinks(repository: string): string[] {
  return documentsOf(repository).flatMap((document) =>
    [...prose(repository, document).matchAll(/\]\(([^)\s]+)\)/g)]
      .map(([, target = '']) => target)
      .filter((target) => !/^[a-z]+:/.test(target))
      .filter((target) => !leadsSomewhere(repository, document, target))
      .map((target) => `${document}: ${target}`),
  );
}

/** Names of files and folders in a document, in backticks, that the repository doesn't have. */
export function unknownFiles(repository: string): string[] {
  const files = filesOf(repository).map((path) => `/${path}`);
  return currentDocuments(repository).flatMap((document) =>
    [...prose(repository, document).matchAll(/`([^`\n]+)`/g)]
      .map(([, name = '']) => name)
      .filter(
        (name) =>
          (FILE_NAME.test(name) && !files.some((file) => file.endsWith(`/${name}`))) ||
          (FOLDER_NAME.test(name) && !files.some((file) => `${file}/`.includes(`/${name.replace(/\/$/, '')}/`))),
      )
      .map((name) => `${document}: ${name}`),
  );
}

/** Commands in documents with a missing script, workspace or suite. */
export function unknownCommands(repository: string): string[] {
  const manifests = filesOf(repository)
    .filter((path) => /(?:^|^test\/|^(?:apps|packages)\/[^/]+\/)package\.json$/.test(path))
    .map(
      (path) =>
        JSON.parse(read(repository, path)) as { readonly name: string; readonly scripts?: Record<string, string> },
    );
  const workspaces = manifests.map(({ name }) => name);
  const scripts = manifests.flatMap((manifest) => Object.keys(manifest.scripts ?? {}));
  const suites = filesOf(repository).filter((path) => path.endsWith('.spec.ts'));
  return currentDocuments(repository).flatMap((document) => {
    const text = read(repository, document);
    const named = (pattern: RegExp) => [...text.matchAll(pattern)].flatMap(([, name = '']) => name.trim().split(/\s+/));
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

/** Settings that aren't in exactly one table row, with the documents that have them. */
export function misplacedSettings(repository: string, settings: readonly string[]): string[] {
  const rows = documentsOf(repository).flatMap((document) =>
    [...read(repository, document).matchAll(/^\| `([A-Z][A-Z_]+)` +\|/gm)].map(([, name]) => ({ name, document })),
  );
  return settings.flatMap((setting) => {
    const documents = rows.filter(({ name }) => name === setting).map(({ document }) => document);
    return documents.length === 1 ? [] : [`${setting}: ${documents.join(', ') || 'in no table'}`];
  });
}

/** Operations of the description that the README's table lacks, and rows of the table that are no operation. */
export function misplacedOperations(repository: string): string[] {
  const { paths } = JSON.parse(read(repository, 'apps/api/openapi.json')) as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  };
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([, { responses }]) => responses !== undefined)
      .map(([method, { deprecated, 'x-stability': stability }]) => {
        const mark = deprecated === true ? 'deprecated' : stability;
        return `${method.toUpperCase()} /v1${path}${mark === undefined ? '' : ` (${mark})`}`;
      }),
  );
  const table = [...read(repository, 'README.md').matchAll(/^\| `([A-Z]+ \/v1\/[^`]*)`( \(\w+\))? +\|/gm)];
  const rows = table.map(([, operation = '', mark = '']) => operation + mark);
  return [
    ...operations.filter((operation) => !rows.includes(operation)).map((operation) => `${operation}: not in README.md`),
    ...rows.filter((row) => !operations.includes(row)).map((row) => `${row}: no operation`),
  ];
}

/** Sentences of comments with a clause as their subject ("What is sent ..."). Questions are allowed. */
export function clausesAsSubjects(repository: string): string[] {
  return filesOf(repository)
    .filter((path) => /^(?:apps|packages|test)\/.*\.(?:[cm]?js|ts)$/.test(path))
    .flatMap((path) => {
      const text = read(repository, path);
      const comments = [...text.matchAll(COMMENT)].map(([comment]) => comment.replace(COMMENT_MARKS, ' '));
      const sentences = comments.flatMap((comment) => [...comment.replace(/\s+/g, ' ').matchAll(CLAUSE_AS_SUBJECT)]);
      return sentences.map(([, sentence = '']) => `${path}: ${sentence.trim()}`);
    });
}

/** Alerts without a link to their own section, or that the runbook's table doesn't lead to. */
export function alertsWithoutSection(repository: string): string[] {
  const table = read(repository, RUNBOOK);
  return alertsOf(repository)
    .filter(({ alert, url }) => {
      const isItsOwn = url.endsWith(`#${alert.toLowerCase()}`) && leadsSomewhere(repository, 'README.md', url);
      return !isItsOwn || !table.includes(`](${relative(dirname(RUNBOOK), url)})`);
    })
    .map(({ alert }) => alert);
}

/** Alerts whose section doesn't have all the parts in their order, with the parts it has. */
export function incompleteSections(repository: string): string[] {
  return alertsOf(repository)
    .filter(({ url }) => url !== '' && leadsSomewhere(repository, 'README.md', url))
    .map(({ alert, url }) => {
      const sections = read(repository, url.replace(/#.*/, '')).split(/^## /m);
      const section = sections.find((each) => each.startsWith(`${alert}\n`)) ?? '';
      return { alert, parts: [...section.matchAll(/^\*\*(\w+)\.\*\*/gm)].map(([, part = '']) => part) };
    })
    .filter(({ parts }) => parts.join() !== PARTS.join())
    .map(({ alert, parts }) => `${alert}: ${parts.join(', ') || 'no part'}`);
}

function alertsOf(repository: string): { readonly alert: string; readonly url: string }[] {
  const { groups } = parse(read(repository, 'docker/prometheus/alerts.yml')) as {
    readonly groups: readonly {
      readonly rules: readonly { readonly alert: string; readonly annotations?: { readonly runbook_url?: string } }[];
    }[];
  };
  return groups
    .flatMap(({ rules }) => rules)
    .map(({ alert, annotations: { runbook_url: url = '' } = {} }) => ({ alert, url }));
}

function currentDocuments(repository: string): string[] {
  return documentsOf(repository).filter((document) => document !== HISTORY);
}

export function leadsSomewhere(repository: string, document: string, target: string): boolean {
  const [path = '', anchor] = target.split('#');
  const file = path === '' ? document : normalize(join(dirname(document), path));
  if (!existsSync(join(repository, file))) return false;
  return anchor === undefined || (file.endsWith('.md') && headings(read(repository, file)).includes(anchor));
}

/** The anchors that GitHub generates for the headings. */
function headings(text: string): string[] {
  return [...withoutBlocks(text).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

function prose(repository: string, document: string): string {
  return withoutBlocks(read(repository, document));
}

function withoutBlocks(text: string): string {
  return text.replace(/^```[\s\S]*?^```/gm, '');
}

function read(repository: string, path: string): string {
  return readFileSync(join(repository, path), 'utf8');
}
