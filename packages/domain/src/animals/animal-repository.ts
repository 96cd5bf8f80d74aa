import type { Animal, AnimalId, NewAnimal, PetStatus } from './animal.js';

export interface AnimalQuery {
  /** Only animals of this status. */
  readonly status?: PetStatus | undefined;
  /** Only these animals; an unknown id is simply absent. */
  readonly ids?: readonly AnimalId[] | undefined;
  /** Only animals with a greater id. */
  readonly after?: AnimalId | undefined;
  /** At most so many, 1 or more. */
  readonly limit: number;
}

/** Port: the animals. Each method is atomic, and a write is durable once its promise resolves. */
export interface AnimalRepository {
  /** Stores the animal under a new id. */
  add(animal: NewAnimal): Promise<Animal>;
  findById(id: AnimalId): Promise<Animal | undefined>;
  /** The matching animals, ascending by id. */
  list(query: AnimalQuery): Promise<readonly Animal[]>;
}
