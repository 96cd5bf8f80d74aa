import { writeSync } from 'node:fs';

/** Writes a line to standard error if it can. On a full disk the second `console.error` would end the process. */
export function tell(line: string): void {
  try {
    // Once `process.stderr` is open, a pipe that nobody reads fails at once. Before, a full one would block the process.
    writeSync(process.stderr.fd, `${line}\n`);
  } catch {
    // There is nobody else to tell.
  }
}
