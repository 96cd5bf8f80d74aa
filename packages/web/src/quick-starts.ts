import { readFileSync } from 'node:fs';

/** A newcomer's first requests in several languages. They read API_URL and API_KEY. */
export interface QuickStart {
  readonly id: 'curl' | 'typescript' | 'python';
  readonly language: string;
  readonly needs: string;
  readonly file: string;
  /** The command that runs the file. Without it people paste the lines into a shell. */
  readonly command?: string;
  /** The command that packs what isn't published yet, in the store's repository. */
  readonly pack?: string;
  /** The command that gets the packages it needs. */
  readonly install?: string;
  readonly text: string;
}

const QUICK_STARTS: readonly Omit<QuickStart, 'text'>[] = [
  { id: 'curl', language: 'curl', needs: 'curl', file: 'quickstart.sh' },
  {
    id: 'typescript',
    language: 'TypeScript',
    needs: 'Node.js 22.18 or later, and the typed client',
    file: 'quickstart.ts',
    command: 'node quickstart.ts',
    pack: 'npm ci && npm run build && npm pack -w @adoption-store/client --pack-destination /tmp',
    install: 'npm install /tmp/adoption-store-client-1.0.0.tgz',
  },
  {
    id: 'python',
    language: 'Python',
    needs: 'Python 3.9 or later, and no package',
    file: 'quickstart.py',
    command: 'python3 quickstart.py',
  },
];

/** Reads the programs, which pages show and tests run unchanged. */
export function readQuickStarts(): readonly QuickStart[] {
  return QUICK_STARTS.map((start) => {
    const file = new URL(`../examples/${start.file}`, import.meta.url);
    return { ...start, text: readFileSync(file, 'utf8') };
  });
}
