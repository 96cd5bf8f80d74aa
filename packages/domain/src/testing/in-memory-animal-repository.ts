import {
  type Animal,
  type AnimalId,
  animalNameKey,
  type AnimalState,
  type CategoryId,
  type DecidedAnimal,
  type Fields,
  type NewAnimal,
} from '../animals/animal.js';
import type { AnimalToImport } from '../animals/animal-importer.js';
import {
  animalPage,
  type AnimalQuery,
  type AnimalRepository,
  matchesFilter,
  type NamedAnimals,
  type NamedAnimalsQuery,
} from '../animals/animal-repository.js';
import { unknownCategory } from '../categories/category.js';
import type { Instant } from '../kernel/clock.js';
import type { InMemoryEventFeed } from './in-memory-event-feed.js';
import { remember } from './in-memory-idempotency-records.js';

export class InMemoryAnimalRepository implements AnimalRepository {
  private readonly animals = new Map<AnimalId, Animal>();
  /** Returns a function that restores the current state. */
  readonly remember = () => remember(this.animals);
  private readonly withdrawn = new Set<AnimalId>();
  private lastId = 0n;
  private isOrdered: (id: AnimalId) => boolean = () => false;
  private mayHave: (id: CategoryId) => boolean = () => true;

  constructor(private readonly events: InMemoryEventFeed) {}

  async add(animal: NewAnimal): Promise<Animal> {
    if (!this.mayHave(animal.categoryId)) throw unknownCategory();
    return this.addUnder(this.nextId(), animal);
  }

  async findById(id: AnimalId): Promise<Animal | undefined> {
    return this.animals.get(id);
  }

  async list(query: AnimalQuery): Promise<readonly Animal[]> {
    return animalPage([...this.animals.values()], query);
  }

  async listByName({ prefix, after, limit, most, ...filter }: NamedAnimalsQuery): Promise<NamedAnimals> {
    const { ids } = filter;
    const named = [...this.animals.values()]
      .filter((animal) => matchesFilter(animal, { ids }))
      .filter(({ name }) => animalNameKey(name).startsWith(prefix))
      .sort(compareNames)
      .filter(
        ({ id, name }) => after === undefined || compareNames({ id, name }, { id: after.id, name: after.nameKey }) > 0,
      );
    const read = named.slice(0, most);
    const animals = read.filter((animal) => matchesFilter(animal, filter)).slice(0, limit);
    const last = read[most - 1];
    const isCut = last !== undefined && (animals.length < limit || animals.at(-1) === last);
    return { animals, readTo: isCut ? { nameKey: animalNameKey(last.name), id: last.id } : undefined };
  }

  async change(id: AnimalId, decide: (state: AnimalState) => DecidedAnimal, categoryId?: CategoryId): Promise<Animal> {
    const { animal, events } = decide(this.stateOf(id));
    if (categoryId !== undefined && !this.mayHave(categoryId)) throw unknownCategory();
    this.events.add(events);
    return this.store(animal, animal.id);
  }

  async withdraw(id: AnimalId, _at: Instant, decide: (state: AnimalState) => DecidedAnimal): Promise<void> {
    const { animal, events } = decide(this.stateOf(id));
    this.events.add(events);
    this.withdrawn.add(animal.id);
    this.animals.delete(animal.id);
  }

  private stateOf(id: AnimalId): AnimalState {
    return { animal: this.get(id), isOrdered: this.isOrdered(id) };
  }

  /** For orders. It is synchronous, so that nothing else changes the animal between their read and their write. */
  get(id: AnimalId): Animal | undefined {
    return this.animals.get(id);
  }

  /** @param isOrdered returns whether an order for the animal is placed. */
  askAboutOrders(isOrdered: (id: AnimalId) => boolean): void {
    this.isOrdered = isOrdered;
  }

  /** @param mayHave returns whether animals may be put into the category. */
  askAboutCategories(mayHave: (id: CategoryId) => boolean): void {
    this.mayHave = mayHave;
  }

  /** Whether an animal has the category. */
  uses(categoryId: CategoryId): boolean {
    return [...this.animals.values()].some((animal) => animal.categoryId === categoryId);
  }

  /** Adds each animal under its id. Later new ids are greater. */
  insert(animals: readonly Animal[]): void {
    for (const animal of animals) {
      this.addUnder(animal.id, animal);
      if (animal.id > this.lastId) this.lastId = animal.id;
    }
  }

  /** Why an animal can't be stored, undefined if it can. */
  objectionTo({ id, animal }: AnimalToImport): string | undefined {
    if (id !== undefined && this.animals.has(id)) return `id ${id} is that of another animal`;
    if (id !== undefined && this.withdrawn.has(id)) return `id ${id} is that of a withdrawn animal`;
    return this.mayHave(animal.categoryId) ? undefined : unknownCategory().message;
  }

  private addUnder(id: AnimalId, animal: NewAnimal): Animal {
    const added = this.store(animal, id);
    this.events.add([{ type: 'pet.added', data: added }]);
    return added;
  }

  private nextId(): AnimalId {
    this.lastId += 1n;
    return this.lastId as AnimalId;
  }

  store({ name, categoryId, status }: NewAnimal, id: AnimalId): Animal {
    const animal = { id, name, categoryId, status } satisfies Fields<Animal>;
    this.animals.set(id, animal);
    return animal;
  }
}

/** By key and id. JavaScript compares UTF-16, in whose order U+FFFD is behind U+1F408. */
function compareNames(one: Pick<Animal, 'id' | 'name'>, other: Pick<Animal, 'id' | 'name'>): number {
  const [key, otherKey] = [sortKey(one.name), sortKey(other.name)];
  if (key !== otherKey) return key < otherKey ? -1 : 1;
  return Number(one.id > other.id) - Number(one.id < other.id);
}

function sortKey(name: string): string {
  return [...animalNameKey(name)].map((character) => String(character.codePointAt(0)).padStart(7, '0')).join('');
}
