import { readFileSync } from 'node:fs';

/** A newcomer's first requests in several languages. They read API_URL and API_KEY. */
export interface QuickStart {
  readonly id: 'curl' | 'typescript' | 'python';
  readonly language: string;
  readonly needs: string;
  readonly file: string;
  /** The command that runs the file. Without it people paste the lines into a shell. */
  readonly command?: string;
  /** Whether it needs the typed client, which the portal serves. */
  readonly needsClient?: boolean;
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
    needsClient: true,
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

/** How to call an operation in one language, as `x-codeSamples` of an OpenAPI description has it. */
export interface Sample {
  readonly lang: string;
  readonly label: string;
  readonly source: string;
}

const LANGUAGES = [
  { lang: 'Shell', label: 'curl', file: 'operations.sh' },
  { lang: 'TypeScript', label: 'TypeScript', file: 'operations.ts' },
  { lang: 'Python', label: 'Python', file: 'operations.py' },
] as const;

/** A comment that is one word, the id of an operation. */
const ID = /^(?:#|\/\/) (\w+)$/m;
const FIRST_COMMENT = /^(?:#|\/\/) .*\n/;

export function readSamples(): ReadonlyMap<string, readonly Sample[]> {
  const samples = new Map<string, readonly Sample[]>();
  for (const { lang, label, file } of LANGUAGES) {
    const text = readFileSync(new URL(`../examples/${file}`, import.meta.url), 'utf8');
    const [beginning = '', ...parts] = text.replace(FIRST_COMMENT, '').split(ID);
    for (let index = 0; index < parts.length; index += 2) {
      const id = parts[index] ?? '';
      const lines = [beginning.trim(), parts[index + 1]?.trim()];
      const source = `${lines.filter((each) => each !== '').join('\n\n')}\n`;
      samples.set(id, [...(samples.get(id) ?? []), { lang, label, source }]);
    }
  }
  return samples;
}
