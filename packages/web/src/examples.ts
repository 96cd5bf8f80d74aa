import { readFileSync } from 'node:fs';

/** A program that pages show. A newcomer's first requests read API_URL and API_KEY. */
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

const RECEIVERS: readonly Omit<QuickStart, 'text'>[] = [
  {
    id: 'typescript',
    language: 'TypeScript',
    needs: 'Node.js 22.18 or later, and the typed client, as the quick start does',
    file: 'receiver.ts',
    command: 'WEBHOOK_SECRET=whsec_… node receiver.ts',
  },
  {
    id: 'python',
    language: 'Python',
    needs: 'Python 3.9 or later, and no package',
    file: 'receiver.py',
    command: 'WEBHOOK_SECRET=whsec_… python3 receiver.py',
  },
];

/** Reads the programs, which pages show and tests run unchanged. */
export const readQuickStarts = (): readonly QuickStart[] => QUICK_STARTS.map(withText);

/** Reads the receivers of webhooks, likewise. */
export const readReceivers = (): readonly QuickStart[] => RECEIVERS.map(withText);

function withText(program: Omit<QuickStart, 'text'>): QuickStart {
  const file = new URL(`../examples/${program.file}`, import.meta.url);
  return { ...program, text: readFileSync(file, 'utf8') };
}

/** How to call an operation in one language, as `x-codeSamples` of an OpenAPI description has it. */
export interface Sample {
  readonly lang: string;
  readonly label: string;
  readonly source: string;
}

const LANGUAGES = [
  { lang: 'Shell', label: 'curl', file: 'operations.sh', comment: '#' },
  { lang: 'TypeScript', label: 'TypeScript', file: 'operations.ts', comment: '//' },
  { lang: 'Python', label: 'Python', file: 'operations.py', comment: '#' },
] as const;

/** What a sample changes, which it says in its first line. */
const EFFECTS: Readonly<Record<string, string>> = {
  createPet: 'Adds an animal, which everybody sees.',
  changePet: 'Changes the animal for everybody.',
  withdrawPet: 'For good: an animal that is withdrawn does not come back.',
  createCategory: 'Adds a category, which everybody sees.',
  nameCategory: 'Changes the name for everybody.',
  deleteCategory: 'For good: the category and its name are deleted.',
  placeOrder: 'Reserves the animal, and cancels the order again.',
  completeOrder: 'For good: the animal is sold.',
  cancelOrder: 'For good: the order stays cancelled. Its animal is available again.',
  queueMessage: 'The store gets this message, and it cannot be taken back.',
  createWebhook: 'The webhook stays until it is deleted. Keep its secret, which is not shown again.',
  changeWebhook: 'Changes the webhook.',
  deleteWebhook: 'For good: the secret and the deliveries are deleted too.',
  rotateWebhookSecret: 'For good: the former secret signs only for another 24 hours.',
  pingWebhook: 'Sends a request to the URL of the webhook.',
  retryDelivery: 'Sends the delivery again.',
  recoverDeliveries: 'Sends again what has failed since then.',
};

/** A comment that is one word, the id of an operation. */
const ID = /^(?:#|\/\/) (\w+)$/m;
const FIRST_COMMENT = /^(?:#|\/\/) .*\n/;

export function readSamples(): ReadonlyMap<string, readonly Sample[]> {
  const samples = new Map<string, readonly Sample[]>();
  for (const { lang, label, file, comment } of LANGUAGES) {
    const text = readFileSync(new URL(`../examples/${file}`, import.meta.url), 'utf8');
    const [beginning = '', ...parts] = text.replace(FIRST_COMMENT, '').split(ID);
    for (let index = 0; index < parts.length; index += 2) {
      const id = parts[index] ?? '';
      const effect = EFFECTS[id];
      const note = effect === undefined ? '' : `${comment} ${effect}\n`;
      const lines = [beginning.trim(), parts[index + 1]?.trim()];
      const source = `${note}${lines.filter((each) => each !== '').join('\n\n')}\n`;
      samples.set(id, [...(samples.get(id) ?? []), { lang, label, source }]);
    }
  }
  return samples;
}
