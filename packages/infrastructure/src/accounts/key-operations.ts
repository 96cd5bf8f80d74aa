import type { ApiKeyId, Instant } from '@adoption-store/domain';
import { WriteBehind } from '../database/write-behind.js';

const FLUSH_EVERY = 2_000;
/** Keys of a minute, and uses in one write. Those of a further key are recorded in a later minute, or after the write. */
const MOST_KEYS = 10_000;
const MOST_USES = 50_000;

export interface RecordedOperation {
  readonly id: ApiKeyId;
  readonly operation: string;
  readonly minute: Instant;
}

/** The operations that keys have called, not yet written. Each is recorded once a minute. */
export class KeyOperations {
  private minute: Instant | undefined;
  /** The uses that were recorded in this minute. */
  private known = new Map<ApiKeyId, Set<string>>();
  private unwritten = new Map<string, RecordedOperation>();
  private readonly writeBehind;

  /** @param write if it rejects, it is called again with the same uses and later ones. */
  constructor(write: (uses: readonly RecordedOperation[]) => Promise<void>, onEvent: (message: string) => void) {
    const keep = (uses: readonly RecordedOperation[]) => {
      for (const use of uses) this.collect(use);
    };
    const unwritten = { name: 'Operations of keys', delay: FLUSH_EVERY, take: () => this.take(), write, keep };
    this.writeBehind = new WriteBehind(unwritten, onEvent);
  }

  record(id: ApiKeyId, operation: string, minute: Instant): void {
    if (minute !== this.minute) {
      this.minute = minute;
      this.known = new Map();
    }
    const operations = this.known.get(id);
    if (operations?.has(operation) === true) return;
    if (operations !== undefined) operations.add(operation);
    else if (this.known.size < MOST_KEYS) this.known.set(id, new Set([operation]));
    this.collect({ id, operation, minute });
  }

  /** Tries to write the rest. */
  async close(): Promise<void> {
    await this.writeBehind.close();
  }

  private collect(use: RecordedOperation): void {
    const name = `${use.id} ${use.operation}`;
    const collected = this.unwritten.get(name);
    if (collected === undefined ? this.unwritten.size < MOST_USES : collected.minute < use.minute)
      this.unwritten.set(name, use);
    this.writeBehind.soon();
  }

  private take(): (readonly RecordedOperation[])[] {
    const uses = [...this.unwritten.values()];
    this.unwritten = new Map();
    return uses.length === 0 ? [] : [uses];
  }
}
