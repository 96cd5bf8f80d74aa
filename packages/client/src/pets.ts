import { ApiError } from './api-error.js';
import { Call } from './call.js';
import type { components, operations } from './generated.js';
import type { CallOptions, PostOptions, WriteOptions } from './options.js';
import { type Pages, pagesOf } from './pages.js';
import type { QueryOf, Request } from './request.js';
import type { Transport } from './transport.js';

type Schemas = components['schemas'];
export type Pet = Schemas['Pet'];
export type NewPet = Schemas['NewPet'];
export type PetPatch = Schemas['PetPatch'];
export type PetStatus = Schemas['PetStatus'];
export type PetQuery = QueryOf<operations['listPets']>;

export class Pets {
  readonly #transport: Transport;
  readonly #request: Request;

  constructor(transport: Transport, request: Request) {
    this.#transport = transport;
    this.#request = request;
  }

  /**
   * The animals, by id: `for await` iterates over all of them, `.page()` fetches one page. By id: `{ id: [1n, 2n] }`; by
   * category: `{ categoryId: [1n] }`.
   *
   * @throws RangeError if a filter has more than 100 ids.
   */
  list(query: PetQuery = {}, options?: CallOptions): Pages<Pet> {
    return pagesOf(this.#transport, { path: '/pets', query }, options);
  }

  /** One animal. Its response's `etag` is one for `change` and `remove`. */
  get(petId: bigint, options?: CallOptions): Call<Pet> {
    // The operation for one animal is deprecated.
    const page = this.#request('GET', '/pets', { ...options, query: { id: [petId] } }).withResponse();
    const found = page.then(({ data: [pet], response }) => {
      // The entity tag is that of the page, which the API takes for the animal's.
      if (pet !== undefined) return { data: pet, response };
      const { requestId } = response;
      throw new ApiError({ code: 'not_found', message: `no animal has the id ${petId}`, status: 404, requestId });
    });
    return new Call(found);
  }

  /** Adds an animal. Its status is `available` by default. */
  create(pet: NewPet, options?: PostOptions): Call<Pet> {
    return this.#request('POST', '/pets', { ...options, body: pet });
  }

  /** Changes the given fields of an animal; the others stay. (Beta.) */
  change(petId: bigint, patch: PetPatch, options?: WriteOptions): Call<Pet> {
    return this.#request('PATCH', '/pets/{petId}', { ...options, path: { petId }, body: patch });
  }

  /** Withdraws an animal. Its earlier orders can still be read. (Beta.) */
  remove(petId: bigint, options?: WriteOptions): Call<undefined> {
    return this.#request('DELETE', '/pets/{petId}', { ...options, path: { petId } });
  }
}
