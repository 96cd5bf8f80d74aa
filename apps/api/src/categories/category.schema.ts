import { type Category, MAX_NAME_LENGTH } from '@adoption-store/domain';
import { pathId } from '../http/operations/path-parameter.js';
import { ResourceSchemas } from '../http/operations/resource-schemas.js';
import { type Described, exampleOf, int64, object, VISIBLE } from '../http/operations/schema.js';

export const CategoryId = pathId({
  name: 'categoryId',
  description: 'Identifier of the category.',
  component: 'CategoryId',
});

export const CATS = { id: 1, name: 'Cats' };

const newCategory = {
  name: {
    type: 'string',
    minLength: 1,
    maxLength: MAX_NAME_LENGTH,
    pattern: VISIBLE,
    description:
      "The category's name. It is stored exactly as sent, and has at least one visible character. No two categories have the " +
      'same name, compared in NFC and without regard to case.',
    examples: [CATS.name],
  },
} satisfies Record<Exclude<keyof Category, 'id'>, Described>;

export const categorySchemas = new ResourceSchemas({
  Category: object(
    'A name for the category of animals.',
    { id: int64('Identifier, which animals carry as their `categoryId`.', 1), ...newCategory },
    CATS,
  ),
  NewCategory: object('A name to give.', newCategory, { name: CATS.name }),
});

export const categoryJson = exampleOf('Category', 'the category');

/** The body of POST /v1/categories and of PUT /v1/categories/{categoryId}. The domain validates the name. */
export class NewCategoryBody {
  @categorySchemas.field('NewCategory')
  readonly name!: string;
}

export const presentCategory: (category: Category) => string = categorySchemas.serialiser('Category');

export const presentCategories: (categories: readonly Category[]) => string =
  categorySchemas.listSerialiser('Category');
