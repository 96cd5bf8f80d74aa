import { reasonOf } from '@adoption-store/domain';

/** Many calls of `soon` cause the work once, after a delay. No caller waits for it. */
export class DelayedWork {
  private timer: NodeJS.Timeout | undefined;
  private working: Promise<void> = Promise.resolve();
  isClosed = false;

  /**
   * @param work must not reject.
   * @param delay milliseconds from the first call to the work.
   */
  constructor(
    private readonly work: () => Promise<void>,
    private readonly delay: number,
  ) {}

  /** Schedules the work, unless it is scheduled or this is closed. */
  soon(): void {
    if (this.timer === undefined && !this.isClosed) this.timer = setTimeout(() => void this.now(), this.delay).unref();
  }

  /** Does the work now, after earlier work has ended. */
  async now(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.working = this.working.then(() => this.work());
    return this.working;
  }

  /** Does the work a last time. */
  async close(): Promise<void> {
    this.isClosed = true;
    await this.now();
  }
}

/** The changes that one statement or one transaction writes. */
export interface Portion {
  readonly write: () => Promise<unknown>;
  /** Adds the changes to the unwritten ones again, because they were not written. */
  readonly restore: () => void;
}

interface Unwritten {
  /** The name of the changes in the log, a plural such as `Request counts`. */
  readonly name: string;
  /** Milliseconds from the first change to the write. */
  readonly delay: number;
  /** Returns all changes, and forgets them. */
  readonly take: () => readonly Portion[];
  /** Called with sentences for the operator. */
  readonly onEvent: (message: string) => void;
}

/**
 * Writes collected changes together. No caller waits for the write. If a write fails, its changes are restored, the
 * oldest first, and written later. The first failure is logged, and the first success after it.
 */
export function writeBehind({ name, delay, take, onEvent }: Unwritten): DelayedWork {
  let isFailing = false;
  const write = async () => {
    const portions = take();
    let written = 0;
    try {
      for (const portion of portions) {
        await portion.write();
        written += 1;
      }
      if (isFailing && written > 0) {
        isFailing = false;
        onEvent(`${name} are saved again.`);
      }
    } catch (error) {
      for (const portion of [...portions.slice(written), ...take()]) portion.restore();
      work.soon();
      if (isFailing && !work.isClosed) return;
      isFailing = true;
      const fate = work.isClosed ? 'The latest ones are lost.' : 'They wait in memory, and are saved later.';
      onEvent(`${name} can't be saved (${reasonOf(error)}). ${fate}`);
    }
  };
  const work = new DelayedWork(write, delay);
  return work;
}

/** The changes in portions of at most `size`. */
export function portionsOf<Change>(changes: readonly Change[], size: number): readonly (readonly Change[])[] {
  return Array.from({ length: Math.ceil(changes.length / size) }, (_, index) =>
    changes.slice(index * size, (index + 1) * size),
  );
}
