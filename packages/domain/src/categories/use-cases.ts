export * from './add-category.js';
export * from './get-category.js';
export * from './list-categories.js';
export * from './name-category.js';
export * from './remove-category.js';
