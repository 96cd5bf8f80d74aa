export * from './add-animal.js';
export * from './change-animal.js';
export * from './export-animals.js';
export * from './get-animal.js';
export { ImportAnimals } from './import-animals.js';
export * from './list-animals.js';
export * from './withdraw-animal.js';
