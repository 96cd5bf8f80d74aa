import { DomainError } from './errors.js';

/** SHA-256 of the text's UTF-8 bytes, in hexadecimal. */
export type Sha256 = (text: string) => string;

/** Identifies an entity's content. No text contains U+0000 (`isStorable`), so different values have different versions. */
export function versionOf(values: readonly (bigint | string)[], sha256: Sha256): string {
  return sha256(values.join('\0'));
}

/** A condition of a change: the entity must have one of these versions. Without it any version will do. */
export type WantedVersions = readonly string[] | undefined;

/** @throws DomainError `precondition_failed` */
export function requireVersion(version: string, wanted: WantedVersions, entity: string): void {
  if (wanted?.includes(version) === false) throw preconditionFailed(entity);
}

export function preconditionFailed(entity: string): DomainError {
  return new DomainError(
    'precondition_failed',
    `the condition of the request does not hold for the ${entity} as it is now`,
  );
}
