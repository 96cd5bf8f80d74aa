import type { Branded } from '../kernel/branded.js';
import type { Condition } from '../kernel/condition.js';
import { checkAll, DomainError, errorCodes, invalid, kernelErrors, ours, ourText } from '../kernel/errors.js';
import { INT64_MAX, INT64_MIN, isInt64 } from '../kernel/int64.js';
import { hasAtMostCodePoints, hasVisible, isStorable, searchKey } from '../kernel/text.js';

export const animalErrors = errorCodes({
  order_in_progress: 'conflict',
  invalid_transition: 'conflict',
});

export type AnimalId = Branded<bigint, 'AnimalId'>;
export type CategoryId = Branded<bigint, 'CategoryId'>;

export const PET_STATUSES = ['available', 'pending', 'sold'] as const;
export type PetStatus = (typeof PET_STATUSES)[number];

export interface NewAnimal {
  /** 1–255 code points, at least one of them visible. Stored exactly as given. */
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

/** An object with every field of the entity, also the optional ones. If one is missing, it doesn't compile. */
export type Fields<Entity> = Readonly<Record<keyof Entity, unknown>>;

export const MAX_NAME_LENGTH = 255;

/** The fields of a stored animal that may be changed. The other fields stay. */
export type AnimalChange = { readonly [Field in keyof NewAnimal]?: NewAnimal[Field] | undefined };

/** The input for a change, before validation. */
export type AnimalChangeInput = { readonly [Field in keyof NewAnimalInput]?: NewAnimalInput[Field] | undefined };

/** What happens to an animal's order. */
type OrderChange = 'placed' | 'completed' | 'cancelled' | 'expired';

/** The change of status that an animal's order makes. This and the next are the only places with these rules. */
const BY_ORDER: Readonly<Record<OrderChange, { readonly from: PetStatus; readonly to: PetStatus }>> = {
  placed: { from: 'available', to: 'pending' },
  completed: { from: 'pending', to: 'sold' },
  cancelled: { from: 'pending', to: 'available' },
  expired: { from: 'pending', to: 'available' },
};

/** The statuses that a person may give an animal, by the one that it has. */
const BY_EDIT: Readonly<Record<PetStatus, readonly PetStatus[]>> = {
  available: ['pending'],
  pending: ['available'],
  sold: [],
};

/**
 * Validates a new animal. `status` is `available` by default.
 *
 * @throws DomainError `invalid_parameter`, naming the field and the rule.
 */
export function newAnimal(input: NewAnimalInput): NewAnimal {
  const { name, categoryId, status = 'available' } = input;
  validate({ name, categoryId, status });
  return { name, categoryId: categoryId as CategoryId, status } satisfies Fields<NewAnimal>;
}

/**
 * Validates a change, which must have at least one field.
 *
 * @throws DomainError `invalid_parameter`, naming the field and the rule.
 */
export function animalChange(input: AnimalChangeInput): AnimalChange {
  const { name, categoryId, status } = input;
  const change = { name, categoryId: categoryId as CategoryId | undefined, status } satisfies Fields<NewAnimal>;
  if (Object.values(change).every((value) => value === undefined))
    throw invalid('the body', ours`must have at least one of name, categoryId and status`);
  validate(input);
  return change;
}

export interface AnimalEvent {
  readonly type: 'pet.added' | 'pet.changed' | 'pet.removed';
  /** One that was removed, as it was before. */
  readonly data: Animal;
}

/** The stored state of an animal that will be changed or withdrawn. */
export interface AnimalState {
  readonly animal: Animal | undefined;
  /** Whether there is an order for it with the status `placed`. */
  readonly isOrdered: boolean;
}

export interface AnimalWithdrawal {
  readonly id: bigint;
  readonly condition?: Condition<Animal> | undefined;
}

export interface AnimalEdit extends AnimalWithdrawal {
  readonly change: AnimalChange;
}

/** An animal after a decision, and the events that are stored with it. */
export interface DecidedAnimal {
  readonly animal: Animal;
  readonly events: readonly AnimalEvent[];
}

/**
 * The animal after a person's edit. An edit without any effect has no event.
 *
 * @throws DomainError `not_found`, `precondition_failed`, `order_in_progress` or `invalid_transition`.
 */
export function decideChange({ animal: stored, isOrdered }: AnimalState, edit: AnimalEdit): DecidedAnimal {
  const animal = requireAnimal(stored, edit);
  const { name = animal.name, categoryId = animal.categoryId, status = animal.status } = edit.change;
  if (status !== animal.status) {
    if (isOrdered) throw orderInProgress(animal.id, "its status can't be changed");
    if (!BY_EDIT[animal.status].includes(status)) {
      throw new DomainError(
        animalErrors.invalid_transition,
        ours`status can't be changed from ${ourText(animal.status)} to ${ourText(status)}`,
      );
    }
  }
  const changed = { id: animal.id, name, categoryId, status } satisfies Fields<Animal>;
  const isSame = (Object.keys(changed) as (keyof Animal)[]).every((field) => changed[field] === animal[field]);
  return { animal: changed, events: isSame ? [] : [{ type: 'pet.changed', data: changed }] };
}

/**
 * The animal to withdraw.
 *
 * @throws DomainError `not_found`, `precondition_failed` or `order_in_progress`.
 */
export function decideWithdrawal(state: AnimalState, withdrawal: AnimalWithdrawal): DecidedAnimal {
  const animal = requireAnimal(state.animal, withdrawal);
  if (state.isOrdered) throw orderInProgress(animal.id, "it can't be withdrawn");
  return { animal, events: [{ type: 'pet.removed', data: animal }] };
}

/** The animal with the status that the change of its order gives it. Undefined if its status doesn't allow that. */
export function changedByOrder(animal: Animal, change: OrderChange): Animal | undefined {
  const { from, to } = BY_ORDER[change];
  return animal.status === from ? { ...animal, status: to } : undefined;
}

function requireAnimal(animal: Animal | undefined, { id, condition }: AnimalWithdrawal): Animal {
  if (animal === undefined) throw animalNotFound(id);
  condition?.(animal);
  return animal;
}

export function animalNotFound(id: bigint): DomainError {
  return new DomainError(kernelErrors.not_found, ours`no animal has the id ${id}`);
}

function orderInProgress(id: AnimalId, consequence: string): DomainError {
  return new DomainError(
    animalErrors.order_in_progress,
    ours`an order for the animal ${id} is placed, so ${ourText(consequence)}`,
  );
}

function validate({ name, categoryId, status }: AnimalChangeInput): void {
  checkAll({
    name: () => {
      if (name !== undefined) validateName(name);
    },
    categoryId: () => {
      if (categoryId === undefined || isInt64(categoryId)) return;
      throw invalid('categoryId', ours`must be an integer from ${INT64_MIN} to ${INT64_MAX}`);
    },
    status: () => {
      if (status === undefined || PET_STATUSES.includes(status)) return;
      throw invalid('status', ours`must be one of ${ourText(PET_STATUSES.join(', '))}`);
    },
  } satisfies Fields<NewAnimal>);
}

/** @throws DomainError `invalid_parameter` */
export function validateName(name: string): void {
  if (!hasVisible(name)) throw invalid('name', ours`must have at least one visible character`);
  if (!hasAtMostCodePoints(name, MAX_NAME_LENGTH))
    throw invalid('name', ours`must be at most ${MAX_NAME_LENGTH} characters`);
  if (!isStorable(name)) throw invalid('name', ours`must not contain U+0000 or a lone surrogate`);
}

/**
 * The key by which animals are found by the beginning of their names. It is cut to 255 characters, because lower case
 * and NFC may be longer than the name, and an index has a limit.
 */
export function animalNameKey(name: string): string {
  const key = searchKey(name);
  return key.length <= MAX_NAME_LENGTH ? key : [...key].slice(0, MAX_NAME_LENGTH).join('');
}

export const NAME_PREFIX_RULE = `must be 1 to ${MAX_NAME_LENGTH} characters in UTF-8, without U+0000`;

/** Whether the text may be the beginning of a name. */
export function isNamePrefix(text: string): boolean {
  return text !== '' && hasAtMostCodePoints(text, MAX_NAME_LENGTH) && isStorable(text);
}
