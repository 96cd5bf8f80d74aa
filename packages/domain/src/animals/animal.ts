import type { Branded } from '../kernel/branded.js';
import { invalid } from '../kernel/errors.js';
import { INT64_MAX, INT64_MIN, isInt64 } from '../kernel/int64.js';
import { hasAtMostCodePoints, isStorable } from '../kernel/text.js';

export type AnimalId = Branded<bigint, 'AnimalId'>;
export type CategoryId = Branded<bigint, 'CategoryId'>;

export const PET_STATUSES = ['available', 'pending', 'sold'] as const;
export type PetStatus = (typeof PET_STATUSES)[number];

export interface NewAnimal {
  /** 1–255 code points, not only white space. Stored exactly as given. */
  readonly name: string;
  readonly categoryId: CategoryId;
  readonly status: PetStatus;
}

/** The input for a new animal, before validation. */
export interface NewAnimalInput {
  readonly name: string;
  readonly categoryId: bigint;
  readonly status?: PetStatus | undefined;
}

export interface Animal extends NewAnimal {
  readonly id: AnimalId;
}

export const MAX_NAME_LENGTH = 255;

/** The statuses that may follow each status. This is the only place with this rule. */
const STATUSES_AFTER: Readonly<Record<PetStatus, readonly PetStatus[]>> = {
  available: ['pending'],
  pending: ['sold', 'available'],
  sold: [],
};

export function canBecome(from: PetStatus, to: PetStatus): boolean {
  return STATUSES_AFTER[from].includes(to);
}

/** The statuses that may become `to`. */
export function statusesBefore(to: PetStatus): readonly PetStatus[] {
  return PET_STATUSES.filter((from) => canBecome(from, to));
}

/**
 * Validates a new animal. `status` is `available` by default.
 *
 * @throws DomainError `invalid_parameter`, naming the field and the rule.
 */
export function newAnimal(input: NewAnimalInput): NewAnimal {
  const status = input.status ?? 'available';
  if (input.name.trim() === '') throw invalid('name', 'must not be empty or only white space');
  if (!hasAtMostCodePoints(input.name, MAX_NAME_LENGTH)) {
    throw invalid('name', `must be at most ${MAX_NAME_LENGTH} characters`);
  }
  if (!isStorable(input.name)) throw invalid('name', 'must not contain U+0000 or a lone surrogate');
  if (!isInt64(input.categoryId)) throw invalid('categoryId', `must be an integer from ${INT64_MIN} to ${INT64_MAX}`);
  if (!PET_STATUSES.includes(status)) throw invalid('status', `must be one of ${PET_STATUSES.join(', ')}`);
  return { name: input.name, categoryId: input.categoryId as CategoryId, status };
}
