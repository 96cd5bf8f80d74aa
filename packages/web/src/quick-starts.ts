import { readFileSync } from 'node:fs';

/** The same program in several languages: a newcomer's first requests. It reads API_URL and API_KEY. */
export interface QuickStart {
  readonly id: 'curl' | 'typescript' | 'python';
  readonly language: string;
  readonly needs: string;
  readonly file: string;
  readonly command: string;
  /** The command that gets the packages it needs. */
  readonly install: string | undefined;
  readonly text: string;
}

/** Reads the programs, which pages show and tests run unchanged. */
export function readQuickStarts(): readonly QuickStart[] {
  return [
    quickStart('curl', 'curl', 'curl 7.84 or later', 'quickstart.sh', 'sh'),
    quickStart(
      'typescript',
      'TypeScript',
      'Node.js 22.18 or later, and the typed client',
      'quickstart.ts',
      'node',
      'npm install @adoption-store/client',
    ),
    quickStart('python', 'Python', 'Python 3.9 or later, and no package', 'quickstart.py', 'python3'),
  ];
}

function quickStart(
  id: QuickStart['id'],
  language: string,
  needs: string,
  file: string,
  program: string,
  install?: string,
): QuickStart {
  const text = readFileSync(new URL(`../examples/${file}`, import.meta.url), 'utf8');
  return { id, language, needs, file, command: `${program} ${file}`, install, text };
}
