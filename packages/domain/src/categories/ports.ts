import type { SystemPorts } from '../kernel/ports.js';
import type { CategoryRepository } from './category-repository.js';

export interface CategoryPorts extends SystemPorts {
  readonly categories: CategoryRepository;
}
