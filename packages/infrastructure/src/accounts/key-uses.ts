import type { ApiKeyId, Instant } from '@adoption-store/domain';
import { WriteBehind } from '../database/write-behind.js';

const FLUSH_EVERY = 2_000;
/** Keys in one write. The use of a further key is recorded at its next use after the write. */
const MOST_KEYS = 10_000;

/** Uses of keys that are not yet written. */
export class KeyUses {
  private uses = new Map<ApiKeyId, Instant>();
  private readonly writeBehind;

  /** @param write if it rejects, it is called again with the same uses and later ones. */
  constructor(write: (uses: ReadonlyMap<ApiKeyId, Instant>) => Promise<void>, onEvent: (message: string) => void) {
    const keep = (uses: ReadonlyMap<ApiKeyId, Instant>) => {
      for (const [id, at] of uses) this.record(id, at);
    };
    const unwritten = { name: 'Last uses of keys', delay: FLUSH_EVERY, take: () => this.take(), write, keep };
    this.writeBehind = new WriteBehind(unwritten, onEvent);
  }

  record(id: ApiKeyId, at: Instant): void {
    const known = this.uses.get(id);
    if (known === undefined ? this.uses.size < MOST_KEYS : known < at) this.uses.set(id, at);
    this.writeBehind.soon();
  }

  /** Tries to write the rest. */
  async close(): Promise<void> {
    await this.writeBehind.close();
  }

  private take(): ReadonlyMap<ApiKeyId, Instant>[] {
    const { uses } = this;
    this.uses = new Map();
    return uses.size === 0 ? [] : [uses];
  }
}
