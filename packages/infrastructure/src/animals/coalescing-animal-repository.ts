import type { Animal, AnimalId, NewAnimal, Transaction } from '@adoption-store/domain';
import { Batch } from '../database/batch.js';
import { TypeOrmAnimalRepository } from './typeorm-animal-repository.js';

/**
 * Requests that arrive together share work: one query for several single animals, one INSERT for several additions. An
 * addition that belongs to a larger transaction runs alone.
 */
export class CoalescingAnimalRepository extends TypeOrmAnimalRepository {
  private readonly finds = new Batch<AnimalId, Animal | undefined>(
    (id) => super.findById(id),
    (ids) => this.findAll(ids),
  );
  private readonly adds = new Batch<NewAnimal, Animal>(
    (animal) => super.add(animal),
    (animals) => this.addAll(animals),
  );

  override add(animal: NewAnimal, transaction?: Transaction): Promise<Animal> {
    return transaction === undefined ? this.adds.add(animal) : super.add(animal, transaction);
  }

  override findById(id: AnimalId): Promise<Animal | undefined> {
    return this.finds.add(id);
  }

  private async findAll(ids: readonly AnimalId[]): Promise<readonly (Animal | undefined)[]> {
    const found = await this.list({ ids, limit: ids.length });
    const byId = new Map(found.map((animal) => [animal.id, animal]));
    return ids.map((id) => byId.get(id));
  }
}
