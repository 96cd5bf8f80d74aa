import { expect, it } from '@jest/globals';
import type { Animal, AnimalId, AnimalQuery, AnimalRepository, NewAnimal } from '@adoption-store/domain';
import {
  animalRepositorySuite,
  InMemoryAnimalRepository,
  PredictableCryptography,
} from '@adoption-store/domain/testing';
import { brokenGuarantees } from './broken-guarantees.js';

/** A page begins with the newest animal. */
class NewestFirst extends InMemoryAnimalRepository {
  override async list(query: AnimalQuery): Promise<readonly Animal[]> {
    return (await super.list(query)).toReversed();
  }
}

/** An animal is the very object that the caller has passed, and may change. */
class KeepsTheCallersObject extends InMemoryAnimalRepository {
  private readonly kept = new Map<AnimalId, Animal>();

  override async add(animal: NewAnimal): Promise<Animal> {
    const added = Object.assign(animal, await super.add(animal));
    this.kept.set(added.id, added);
    return added;
  }

  override async findById(id: AnimalId): Promise<Animal | undefined> {
    const stored = await super.findById(id);
    return stored && (this.kept.get(id) ?? stored);
  }

  override async change(...change: Parameters<AnimalRepository['change']>): Promise<Animal | undefined> {
    this.kept.delete(change[0]);
    return super.change(...change);
  }
}

/** Two callers who race may get one id. */
class CountsTooLate extends InMemoryAnimalRepository {
  private stored = 0n;

  override async add(animal: NewAnimal): Promise<Animal> {
    const id = (this.stored + 1n) as AnimalId;
    await super.add(animal);
    this.stored = id;
    return { ...animal, id };
  }
}

const brokenBy = (animals: AnimalRepository) =>
  brokenGuarantees((framework) => {
    animalRepositorySuite(framework, 'broken', () =>
      Promise.resolve({
        ports: { animals, cryptography: new PredictableCryptography() },
        close: () => Promise.resolve(),
      }),
    );
  });

it('a sound adapter breaks no guarantee', async () => {
  expect(await brokenBy(new InMemoryAnimalRepository())).toEqual([]);
});

it('an adapter whose pages are in the wrong order breaks those guarantees that name pages', async () => {
  expect(await brokenBy(new NewestFirst())).toEqual([
    'lists by status, by ids and after an id, ascending and no more than asked for',
    'lists what is before an id, as far as asked for, also by status and category',
    'lists by categories, alone and with every other filter',
    'gives each of many concurrent readers the page it asked for',
    'returns every animal that existed throughout exactly once in a walk by pages, whatever is added meanwhile',
  ]);
});

it('an adapter that keeps the caller’s object breaks the guarantee that names it', async () => {
  expect(await brokenBy(new KeepsTheCallersObject())).toEqual([
    'keeps what was added, though the caller’s object changes afterwards',
  ]);
});

it('an adapter that counts too late breaks the guarantee that names concurrent callers', async () => {
  expect(await brokenBy(new CountsTooLate())).toContain('gives each of many concurrent callers a new animal');
});
