import type { Setting } from './environment.js';
import { apiSettings, portalSettings, serviceSettings, workerSettings } from './settings.js';

type Settings = Readonly<Record<string, Setting<unknown>>>;
type Entry = readonly [name: string, setting: Setting<unknown>];

const APPS: readonly (readonly [heading: string, settings: Settings])[] = [
  ['All services', serviceSettings],
  ['The API', apiSettings],
  ['The portal', portalSettings],
  ['The worker', workerSettings],
];

/** The section of a setting of several apps, if it isn't that of the first one. */
const LISTED_AT: Readonly<Record<string, string>> = {
  PORTAL_URL: 'The portal',
  SUPPORT_CONTACT: 'The portal',
  SMTP_URL: 'The worker',
};

const COLUMNS = ['Variable', 'Default', 'Meaning'];

/** The operator's page with new tables. The rest of its text stays. */
export function settingsPage(page: string): string {
  let written = page;
  for (const [heading, settings] of sections()) {
    const table = new RegExp(`(?<=^## ${heading}\\n[^#]*?)(?:^\\|.*\\n)+`, 'm');
    if (!table.test(page)) throw new Error(`the page has no table under "${heading}"`);
    written = written.replace(table, () => tableOf(settings));
  }
  return written;
}

/** The file that people copy to `.env`. */
export function envExample(): string {
  const title =
    '# Settings of the service, each with its default. Copy to .env and take the # away from what you change.';
  const texts = sections().map(([heading, settings]) => `## ${heading}\n\n${settings.map(exampleOf).join('\n')}`);
  return [title, ...texts].join('\n\n');
}

/** The settings of both pages, by section. Each is listed once. */
function sections(): [heading: string, settings: Entry[]][] {
  const listed = new Set<string>();
  return APPS.map(([heading, settings]) => {
    const own = Object.entries(settings).filter(
      ([name]) => !listed.has(name) && (LISTED_AT[name] ?? heading) === heading,
    );
    for (const [name] of own) listed.add(name);
    return [heading, own];
  });
}

function exampleOf([name, { description, default: standard = '' }]: Entry): string {
  const plain = description
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll('`', '')
    .replaceAll('–', '-');
  return `# ${plain}.\n# ${name}=${standard}\n`;
}

/** The page tells Prettier to leave it: it would fill each column with spaces up to its longest cell. */
function tableOf(settings: readonly Entry[]): string {
  const rows = settings.map(([name, { description, default: standard }]) => [
    `\`${name}\``,
    standard === undefined ? '' : `\`${standard}\``,
    description,
  ]);
  return [COLUMNS, COLUMNS.map(() => '---'), ...rows].map(lineOf).join('');
}

function lineOf(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |\n`;
}
