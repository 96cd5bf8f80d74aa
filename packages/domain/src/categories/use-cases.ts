import { AddCategory } from './add-category.js';
import { GetCategory } from './get-category.js';
import { ListCategories } from './list-categories.js';
import { NameCategory } from './name-category.js';
import { RemoveCategory } from './remove-category.js';

export const categoryUseCases = {
  addCategory: AddCategory,
  getCategory: GetCategory,
  listCategories: ListCategories,
  nameCategory: NameCategory,
  removeCategory: RemoveCategory,
};
