import { hash } from 'node:crypto';
import { type Condition, PreconditionFailed } from '@adoption-store/domain';

/** Identifies what a page shows of something, as a field of its form. Empty for nothing. */
export type VersionOf<Shown> = (shown: Shown | undefined) => string;

/** A version made of these values. */
export function fingerprint(...values: readonly unknown[]): string {
  return hash('sha256', values.map(String).join('\0'));
}

/** Refuses a form whose page showed another version. */
export function unchangedSince<Shown>(version: string, versionOf: VersionOf<Shown>): Condition<Shown> {
  return (stored) => {
    if (versionOf(stored) !== version) throw new PreconditionFailed('the version of the form', versionOf(stored));
  };
}

export function isChanged(error: unknown): boolean {
  return error instanceof PreconditionFailed;
}
