import type { Call } from './call.js';
import type { components, operations } from './generated.js';
import type { CallOptions, PostOptions, WriteOptions } from './options.js';
import { type Pages, pagesOf } from './pages.js';
import type { QueryOf, Request } from './request.js';
import type { Transport } from './transport.js';

type Schemas = components['schemas'];
export type Category = Schemas['Category'];
export type NewCategory = Schemas['NewCategory'];
export type CategoryQuery = QueryOf<operations['listCategories']>;

export class Categories {
  readonly #transport: Transport;
  readonly #request: Request;

  constructor(transport: Transport, request: Request) {
    this.#transport = transport;
    this.#request = request;
  }

  /** The categories, by id. @throws RangeError if a filter has more than 100 ids. */
  list(query: CategoryQuery = {}, options?: CallOptions): Pages<Category> {
    return pagesOf(this.#transport, { path: '/categories', query }, options);
  }

  get(categoryId: bigint, options?: CallOptions): Call<Category> {
    return this.#request('GET', '/categories/{categoryId}', { ...options, path: { categoryId } });
  }

  /** Adds a category under an id that neither a category nor an animal has. */
  create(category: NewCategory, options?: PostOptions): Call<Category> {
    return this.#request('POST', '/categories', { ...options, body: category });
  }

  /** Gives the id this name, whether it has one or not. */
  put(categoryId: bigint, category: NewCategory, options?: WriteOptions): Call<Category> {
    return this.#request('PUT', '/categories/{categoryId}', { ...options, path: { categoryId }, body: category });
  }

  /** Removes a category, which no animal may have. */
  remove(categoryId: bigint, options?: WriteOptions): Call<undefined> {
    return this.#request('DELETE', '/categories/{categoryId}', { ...options, path: { categoryId } });
  }
}
