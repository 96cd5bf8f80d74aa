import { randomUUID } from 'node:crypto';
import { constants, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

/** The text of a file that only its owner, this user, can read and write; undefined where there is no such file. */
export async function readSecretFile(file: string): Promise<string | undefined> {
  const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    () => undefined,
  );
  if (handle === undefined) return undefined;
  try {
    const found = await handle.stat();
    const caller = process.getuid?.() ?? found.uid;
    if (!found.isFile() || found.uid !== caller || (found.mode & 0o077) !== 0) return undefined;
    return await handle.readFile('utf8');
  } finally {
    await handle.close();
  }
}

/**
 * The file appears whole or stays as it was, whatever was in its place.
 *
 * @throws Error that names it.
 */
export async function writeSecretFile(file: string, text: string): Promise<void> {
  const draft = `${file}.${randomUUID()}`;
  try {
    await writeThrough(draft, text);
    await rename(draft, file);
    await flush(dirname(file));
  } catch (cause) {
    await rm(draft, { force: true });
    const { code = 'unknown' } = cause as NodeJS.ErrnoException;
    throw new Error(`${file} can't be written (${code}): make room for it, or let this user write its folder.`, {
      cause,
    });
  }
}

async function writeThrough(file: string, text: string): Promise<void> {
  const handle = await open(file, 'wx', 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function flush(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  await handle.sync().finally(() => handle.close());
}
