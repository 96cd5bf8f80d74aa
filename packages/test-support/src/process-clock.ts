import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Environment } from './processes.js';

/**
 * A clock for other processes that is set by hand. A process that is started with its environment reads it at every
 * use.
 */
export class ProcessClock {
  readonly environment: Environment;
  private readonly file: string;

  constructor(folder: string, now: number) {
    this.file = join(folder, 'now');
    this.set(now);
    const program = pathToFileURL(join(__dirname, 'set-clock.mjs')).href;
    this.environment = { TEST_CLOCK: this.file, NODE_OPTIONS: `--import=${program}` };
  }

  set(now: number): void {
    // Renamed, so that no process reads a half-written file.
    writeFileSync(`${this.file}.next`, String(now));
    renameSync(`${this.file}.next`, this.file);
  }
}
