import type { AccountKey } from '@adoption-store/domain';

/** A changed row, as the notifications of the database name it. */
export type ChangedRow = `key ${bigint}` | `account ${bigint}`;

/** The result of a look-up of a key. */
export interface Answer {
  readonly found: AccountKey | undefined;
  /** The number of changes before the query was sent. */
  readonly changes: number;
}

/** The latest changes of keys and accounts, to know whether an answer may have missed one. */
export class RecentChanges {
  count = 0;
  /** The number of changes up to the latest one of each row. */
  private readonly changed = new Map<ChangedRow, number>();
  /** Up to this number, any row may have changed. */
  private anyUntil = 0;

  /** @param most rows that are remembered. After so many, all rows count as changed, and it begins anew. */
  constructor(private readonly most: number) {}

  /** Without a row: any may have changed. */
  add(row?: ChangedRow): void {
    this.count += 1;
    if (row === undefined || this.changed.size >= this.most) {
      this.changed.clear();
      this.anyUntil = this.count;
    }
    if (row !== undefined) this.changed.set(row, this.count);
  }

  /** A key that wasn't found may have been added since. */
  concern({ found, changes }: Answer): boolean {
    if (found === undefined) return this.count > changes;
    return this.anyUntil > changes || rowsOf(found).some((row) => (this.changed.get(row) ?? 0) > changes);
  }
}

/** The rows from which it was made. */
export function rowsOf({ key, account }: AccountKey): readonly ChangedRow[] {
  return [`key ${key.id}`, `account ${account.id}`];
}
