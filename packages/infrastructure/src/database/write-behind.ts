import { reasonOf } from '@adoption-store/domain';
import { DelayedWork } from './delayed-work.js';

/** Changes that wait in memory for a write. A portion is as much of them as one statement writes. */
export interface Unwritten<Portion> {
  /** A plural for the log, such as `Request counts`. */
  readonly name: string;
  /** Milliseconds from the first change to the write. */
  readonly delay: number;
  /** Returns all changes, and forgets them. */
  readonly take: () => readonly Portion[];
  readonly write: (portion: Portion) => Promise<unknown>;
  /** Takes back a portion that was not written. It is called for the oldest portion first. */
  readonly keep: (portion: Portion) => void;
}

/**
 * Writes collected changes together. No caller waits for the write. A write that fails is repeated; the first failure
 * is logged, and the first success after it.
 */
export class WriteBehind<Portion> {
  private readonly work: DelayedWork;
  private isFailing = false;

  constructor(
    private readonly unwritten: Unwritten<Portion>,
    private readonly onEvent: (message: string) => void,
  ) {
    this.work = new DelayedWork(() => this.write(), unwritten.delay);
  }

  /** Schedules a write. */
  soon(): void {
    this.work.soon();
  }

  /** Writes now. It never rejects. */
  async flush(): Promise<void> {
    await this.work.now();
  }

  /** Tries to write the rest. */
  async close(): Promise<void> {
    await this.work.close();
  }

  private async write(): Promise<void> {
    const { name, take, write, keep } = this.unwritten;
    const portions = take();
    let written = 0;
    try {
      for (const portion of portions) {
        await write(portion);
        written += 1;
      }
      if (this.isFailing && written > 0) {
        this.isFailing = false;
        this.onEvent(`${name} are saved again.`);
      }
    } catch (error) {
      for (const portion of [...portions.slice(written), ...take()]) keep(portion);
      this.soon();
      if (this.isFailing && !this.work.isClosed) return;
      this.isFailing = true;
      const fate = this.work.isClosed ? 'The latest ones are lost.' : 'They wait in memory, and are saved later.';
      this.onEvent(`${name} can't be saved (${reasonOf(error)}). ${fate}`);
    }
  }
}

/** The changes in portions of at most `size`. */
export function portionsOf<Change>(changes: readonly Change[], size: number): readonly (readonly Change[])[] {
  return Array.from({ length: Math.ceil(changes.length / size) }, (_, index) =>
    changes.slice(index * size, (index + 1) * size),
  );
}
