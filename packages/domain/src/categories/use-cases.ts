export { AddCategory as addCategory } from './add-category.js';
export { GetCategory as getCategory } from './get-category.js';
export { ListCategories as listCategories } from './list-categories.js';
export { NameCategory as nameCategory } from './name-category.js';
export { RemoveCategory as removeCategory } from './remove-category.js';
