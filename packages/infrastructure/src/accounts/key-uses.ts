import type { ApiKeyId, Instant } from '@adoption-store/domain';
import { WriteBehind } from '../database/write-behind.js';

const FLUSH_EVERY = 2_000;
/** Keys in one write. The use of a further key is recorded at its next use after the write. */
const MOST_KEYS = 10_000;

/** Uses of keys that are not yet written. */
export class KeyUses {
  private uses = new Map<ApiKeyId, Instant>();
  private readonly writeBehind = new WriteBehind(() => this.writeAll(), FLUSH_EVERY);

  /** @param write if it rejects, it is called again with the same uses and later ones. */
  constructor(private readonly write: (uses: ReadonlyMap<ApiKeyId, Instant>) => Promise<void>) {}

  record(id: ApiKeyId, at: Instant): void {
    const known = this.uses.get(id);
    if (known === undefined ? this.uses.size < MOST_KEYS : known < at) this.uses.set(id, at);
    this.writeBehind.soon();
  }

  /** Tries to write the rest. */
  async close(): Promise<void> {
    await this.writeBehind.close();
  }

  private async writeAll(): Promise<void> {
    const { uses } = this;
    if (uses.size === 0) return;
    this.uses = new Map();
    try {
      await this.write(uses);
    } catch {
      for (const [id, at] of uses) this.record(id, at);
    }
  }
}
