import { AddAnimal } from './add-animal.js';
import { ChangeAnimal } from './change-animal.js';
import { ExportAnimals } from './export-animals.js';
import { GetAnimal } from './get-animal.js';
import { ImportAnimals } from './import-animals.js';
import { ListAnimals } from './list-animals.js';
import { WithdrawAnimal } from './withdraw-animal.js';

export const animalUseCases = {
  addAnimal: AddAnimal,
  getAnimal: GetAnimal,
  listAnimals: ListAnimals,
  changeAnimal: ChangeAnimal,
  withdrawAnimal: WithdrawAnimal,
  importAnimals: ImportAnimals,
  exportAnimals: ExportAnimals,
};
