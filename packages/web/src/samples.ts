import { readFileSync } from 'node:fs';

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
