import { join } from 'node:path';
import { type Application, DomainError, plan } from '@adoption-store/domain';
import { readSecretFile, writeSecretFile } from './secret-file.js';

const DEMO_ACCOUNT = { email: 'demo@example.com', plan: plan('pro') };
const DEMO_CATEGORIES = [
  { id: 1n, name: 'Cats' },
  { id: 2n, name: 'Dogs' },
  { id: 3n, name: 'Rabbits' },
];
const DEMO_ANIMALS = [
  { name: 'Luna', categoryId: 1n },
  { name: 'Milo', categoryId: 1n },
  { name: 'Nala', categoryId: 2n, status: 'pending' },
  { name: 'Rocky', categoryId: 2n },
  { name: 'Coco', categoryId: 3n, status: 'sold' },
] as const;

/** Adds a few animals and names their categories, if the store has neither. */
export async function seedCatalogue({
  listAnimals,
  addAnimal,
  listCategories,
  nameCategory,
}: Application): Promise<void> {
  const lists = [await listAnimals.execute({ limit: 1 }), await listCategories.execute({ limit: 1 })];
  if (lists.some(({ items }) => items.length > 0)) return;
  for (const category of DEMO_CATEGORIES) await nameCategory.execute(category);
  for (const animal of DEMO_ANIMALS) await addAnimal.execute(animal);
}

/** The demo account's key. It is created once and stored beside the data, in a file that only this user can read. */
export async function demoKey(application: Application, dataDirectory: string): Promise<string> {
  const file = join(dataDirectory, 'demo-api-key');
  const kept = (await readSecretFile(file))?.trim();
  if (kept !== undefined && (await isAccepted(application, kept))) return kept;
  const account = await application.openAccount.execute(DEMO_ACCOUNT);
  const { key, text } = await application.issueKey.execute({ accountId: account.id, name: 'demo' });
  await writeSecretFile(file, `${text}\n`).catch(async (error: unknown) => {
    await application.revokeKey.execute({ id: key.id });
    throw error;
  });
  return text;
}

async function isAccepted({ authenticate }: Application, key: string): Promise<boolean> {
  try {
    await authenticate.execute(key);
    return true;
  } catch (error) {
    if (error instanceof DomainError && error.kind === 'unauthenticated') return false;
    throw error;
  }
}
