import type { Animal, AnimalId } from './animal.js';
import type { AnimalPorts } from './ports.js';

/** Animals that are read at a time. Between two parts nothing is held open, so the caller may be slow. */
const PART = 1_000;

export class ExportAnimals {
  constructor(private readonly ports: Pick<AnimalPorts, 'animals'>) {}

  /** All animals ascending by id, in parts. Each animal that exists throughout is in it exactly once. */
  async *execute(): AsyncGenerator<readonly Animal[]> {
    for (let after: AnimalId | undefined; ;) {
      const part = await this.ports.animals.list({ after, limit: PART });
      const last = part.at(-1);
      if (last === undefined) return;
      yield part;
      after = last.id;
    }
  }
}
