import { randomUUID } from 'node:crypto';
import { constants, open, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

/** The text of a file that only this user can read and write. Undefined if there is no such file, or others can. */
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
 * Writes the file completely or not at all, and replaces what was there.
 *
 * @throws Error that names the file.
 */
export async function writeSecretFile(file: string, text: string): Promise<void> {
  const draft = `${file}.${randomUUID()}`;
  try {
    await writeFile(draft, text, { flag: 'wx', mode: 0o600, flush: true });
    await rename(draft, file);
    const folder = await open(dirname(file));
    await folder.sync().finally(() => folder.close());
  } catch (cause) {
    await rm(draft, { force: true });
    const { code = 'unknown' } = cause as NodeJS.ErrnoException;
    throw new Error(`${file} can't be written (${code}): make room for it, or let this user write its folder.`, {
      cause,
    });
  }
}
