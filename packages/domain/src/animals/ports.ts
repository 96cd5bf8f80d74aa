import type { SystemPorts } from '../kernel/ports.js';
import type { AnimalImporter } from './animal-importer.js';
import type { AnimalRepository } from './animal-repository.js';

export interface AnimalPorts extends SystemPorts {
  readonly animals: AnimalRepository;
  readonly animalImporter: AnimalImporter;
}
