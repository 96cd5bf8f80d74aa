import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { isHeld } from './cores.mjs';

const page = join(import.meta.dirname, 'results.md');

/** Replaces the section of that title, or adds it at the end. The sections of other benchmarks stay as they are. */
export function write(title, text) {
  const [introduction, ...sections] = readFileSync(page, 'utf8').split(/^(?=## )/m);
  const section = `## ${title}\n\n${text}\n`;
  const index = sections.findIndex((each) => each.startsWith(`## ${title}\n`));
  sections.splice(index === -1 ? sections.length : index, 1, section);
  writeFileSync(page, [introduction, ...sections].join('\n'));
  execFileSync('npx', ['prettier', '--write', page], { stdio: 'ignore' });
}

/** When, where and how long a benchmark ran, without the machine's name. */
export function about(length, postgres) {
  const cores = cpus();
  const machine = `${cores.length} cores (${cores[0].model.trim()}), ${Math.round(totalmem() / 2 ** 30)} GB`;
  const held = isHeld ? 'the service held to one core' : '**all processes on all cores**';
  const software = `Node.js ${process.versions.node}, PostgreSQL ${postgres}`;
  return `${new Date().toISOString().slice(0, 10)}, ${machine}, ${software}, ${length}, ${held}.`;
}

export function table(head, rows) {
  const lines = [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`);
  // Prettier would fill each column with spaces up to its longest cell.
  return ['<!-- prettier-ignore -->', ...lines].join('\n');
}

/** A whole number with separators of thousands. */
export const whole = (value) => Math.round(value).toLocaleString('en');

/** A ratio, in bold if it misses its bar. */
export function judged(value, { least = 0, most = Infinity }) {
  const text = value.toFixed(2);
  return value < least || value > most ? `**${text}**` : text;
}
