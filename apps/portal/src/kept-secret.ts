import { randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The secret of a portal that has a database of its own: made once and kept beside it, readable to its owner alone. */
export async function keptSecret(dataDirectory: string): Promise<string> {
  const file = join(dataDirectory, 'portal-secret');
  await mkdir(dataDirectory, { recursive: true });
  // Of portals that start at once, one writes it.
  await writeFile(file, randomBytes(32).toString('hex'), { mode: 0o600, flag: 'wx' }).catch(() => undefined);
  return readFile(file, 'utf8');
}
