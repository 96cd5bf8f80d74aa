import { categorySchemas } from './category.schema.js';

/** The body of POST /v1/categories and of PUT /v1/categories/{categoryId}. The domain validates the name. */
export class NewCategoryBody {
  @categorySchemas.field('NewCategory')
  readonly name!: string;
}
