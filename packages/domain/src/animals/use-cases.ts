export { AddAnimal as addAnimal } from './add-animal.js';
export { ChangeAnimal as changeAnimal } from './change-animal.js';
export { ExportAnimals as exportAnimals } from './export-animals.js';
export { GetAnimal as getAnimal } from './get-animal.js';
export { ImportAnimals as importAnimals } from './import-animals.js';
export { ListAnimals as listAnimals } from './list-animals.js';
export { WithdrawAnimal as withdrawAnimal } from './withdraw-animal.js';
