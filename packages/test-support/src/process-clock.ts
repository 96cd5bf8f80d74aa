import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Environment } from './processes.js';

/** A clock that is set by hand, for processes: those that are started with its environment read it at every look. */
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
    // Renamed, so that no process reads half of it.
    writeFileSync(`${this.file}.next`, String(now));
    renameSync(`${this.file}.next`, this.file);
  }
}
