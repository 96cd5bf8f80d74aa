import type { Animal, AnimalId, AnimalQuery, AnimalRepository, NewAnimal } from '@adoption-store/domain';
import type { DataSource, Repository } from 'typeorm';
import { insertedId } from '../database/columns.js';
import { onDatabase, readFromDatabase } from '../database/database-errors.js';
import { managerOf } from '../database/transactions.js';
import { animalSchema } from './animal.schema.js';

export class TypeOrmAnimalRepository implements AnimalRepository {
  constructor(private readonly dataSource: DataSource) {}

  private get animals(): Repository<Animal> {
    return managerOf(this.dataSource).getRepository(animalSchema);
  }

  async add({ name, categoryId, status }: NewAnimal): Promise<Animal> {
    const animal = { name, categoryId, status };
    // insert() is one statement; save() would be three round trips.
    const inserted = await onDatabase(() => this.animals.insert({ ...animal }));
    return { id: insertedId(inserted) as AnimalId, ...animal };
  }

  async findById(id: AnimalId): Promise<Animal | undefined> {
    return readFromDatabase(this.dataSource, async () => (await this.animals.findOneBy({ id })) ?? undefined);
  }

  async list({ status, ids, after, limit }: AnimalQuery): Promise<readonly Animal[]> {
    const query = this.animals.createQueryBuilder('animal').orderBy('animal.id').limit(limit);
    if (status !== undefined) query.andWhere('animal.status = :status', { status });
    if (ids !== undefined) query.andWhere('animal.id = ANY(:ids)', { ids });
    if (after !== undefined) query.andWhere('animal.id > :after', { after });
    return readFromDatabase(this.dataSource, () => query.getMany());
  }
}
