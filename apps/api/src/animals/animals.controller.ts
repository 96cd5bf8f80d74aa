import {
  AddAnimal,
  type Animal,
  animalChange,
  animalNameKey,
  ChangeAnimal,
  type Condition,
  DEFAULT_PAGE_SIZE,
  type Fields,
  GetAnimal,
  int64From,
  ListAnimals,
  ListAnimalsByName,
  type ListAnimalsByNameInput,
  type NamePosition,
  namePositionFrom,
  namePositionText,
  newAnimal,
  PET_STATUSES,
  type PetStatus,
  WithdrawAnimal,
} from '@adoption-store/domain';
import { SharedReads, Turns } from '@adoption-store/infrastructure/turns';
import { getPetDeprecation } from '@adoption-store/web';
import { queryOf } from '@adoption-store/web/edge';
import { Controller, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiContext } from '../http/answers/api-context.js';
import { Idempotency } from '../idempotency/idempotency.js';
import { Conditions } from '../http/operations/conditions.js';
import { JsonBody, MERGE_PATCH } from '../http/operations/json-body.decorator.js';
import { Operation } from '../http/operations/operation.js';
import { type PresentedPage, presentPage, sendPage } from '../http/operations/pages.js';
import { Cursor, Int64s, Limit, NamePrefix, OneOf } from '../http/operations/query-parameters.js';
import { page } from '../http/operations/schema.js';
import { ValidQuery } from '../http/operations/valid-query.decorator.js';
import {
  animalJson,
  AnimalPatchBody,
  LUNA,
  NewAnimalBody,
  PetId,
  presentAnimal,
  presentAnimals,
} from './animal.schema.js';

const CURSOR = 'pets';

/** The query of GET /v1/pets. Each parameter may occur once, except `id` and `categoryId`. */
export class ListAnimalsQuery {
  @Limit()
  limit?: number;

  @OneOf('status', PET_STATUSES, 'Only animals with this status.', 'PetStatus')
  status?: PetStatus;

  @Int64s('id', 'Only these animals.')
  ids?: bigint[];

  @Int64s('categoryId', 'Only animals of these categories.')
  categoryIds?: bigint[];

  @NamePrefix()
  name?: string;

  @Cursor(CURSOR, (text, { name }) => (name === undefined ? int64From(text) : positionFrom(text, name)))
  after?: bigint | NamePosition;
}

@Controller()
export class AnimalsController {
  private readonly pages = new SharedReads<PresentedPage>();

  constructor(
    private readonly context: ApiContext,
    private readonly idempotency: Idempotency,
    private readonly turns: Turns,
    private readonly listAnimals: ListAnimals,
    private readonly listAnimalsByName: ListAnimalsByName,
    private readonly addAnimal: AddAnimal,
    private readonly getAnimal: GetAnimal,
    private readonly changeAnimal: ChangeAnimal,
    private readonly withdrawAnimal: WithdrawAnimal,
  ) {}

  @Operation('GET /v1/pets', {
    id: 'listPets',
    scope: 'pets:read',
    summary: 'List animals',
    description:
      'Lists animals by their identifiers, ascending; with `name` by their names. If there is another page, the `Link` header has its address.',
    success: { 200: ['A page of animals.', page('Pet', LUNA, { ...LUNA, id: 2, name: 'Milo' })] },
  })
  async list(
    @ValidQuery(ListAnimalsQuery) query: ListAnimalsQuery,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    const text = queryOf(request.url);
    const read = async () => {
      const { items, next } = await this.listed(query);
      return presentPage(CURSOR, text, presentAnimals(items), next);
    };
    const shared = await this.pages.of(request.caller.account, { key: text, read, ...this.turnsOf(query) });
    return sendPage(request, reply, this.context.origin(request), shared);
  }

  @Operation('POST /v1/pets', {
    id: 'createPet',
    scope: 'pets:write',
    summary: 'Add an animal',
    turns: 'batched',
    description:
      'Adds an animal. Any status is allowed. Properties that are not listed here are ignored. Once `GET /pets/{petId}` has ' +
      'been removed, `Location` is `/pets?id=1`.',
    examples: {
      'an animal': { name: 'Bella', categoryId: 1 },
      'with its status': { name: 'Bella', categoryId: 1, status: 'pending' },
    },
    success: { 201: ['The animal has been added.', animalJson({ ...LUNA, id: 6, name: 'Bella' })] },
  })
  add(
    @JsonBody(NewAnimalBody, { check: newAnimal }) body: NewAnimalBody,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    return this.idempotency.once(request, reply, async (transaction) => {
      const animal = await this.addAnimal.execute(body, transaction);
      const path = this.context.clock.now() >= getPetDeprecation.sunset ? '/v1/pets?id=' : '/v1/pets/';
      return { body: presentAnimal(animal), location: `${this.context.origin(request)}${path}${animal.id}` };
    });
  }

  @Operation('GET /v1/pets/{petId}', {
    id: 'getPet',
    scope: 'pets:read',
    deprecation: getPetDeprecation,
    summary: 'Get an animal',
    description: 'List animals by `status` or `id` instead: `GET /pets?status=available`, `GET /pets?id=1`.',
    success: { 200: ['The animal.', animalJson(LUNA)] },
    refusals: [404],
  })
  async get(@PetId() id: bigint, @Req() { caller }: FastifyRequest): Promise<string> {
    return presentAnimal(await this.turns.finds.run(caller.account, () => this.getAnimal.execute(id)));
  }

  @Operation('PATCH /v1/pets/{petId}', {
    id: 'changePet',
    scope: 'pets:manage',
    stability: 'beta',
    summary: 'Change an animal',
    description:
      'Changes the given fields, as a JSON Merge Patch (RFC 7396); the others stay. The status can be changed from ' +
      '`available` to `pending` and back; another change is refused with 409 `invalid_transition`. While an order is ' +
      'placed the status stays: 409 `order_in_progress`. With `If-Match` the animal is changed only if it is still in ' +
      'that version, otherwise the response is 412. The tag of `GET /pets?id=1` is one of it, too.',
    examples: { 'a name': { name: 'Bella' }, reserved: { status: 'pending' } },
    success: { 200: ['The animal has been changed.', animalJson({ ...LUNA, name: 'Bella' })] },
    refusals: [404, 409],
  })
  async change(
    @PetId() id: bigint,
    @JsonBody(AnimalPatchBody, { mediaTypes: MERGE_PATCH, check: animalChange }) change: AnimalPatchBody,
    @Conditions(presentAnimal, presentAnimals) condition: Condition<Animal> | undefined,
  ): Promise<string> {
    return presentAnimal(await this.changeAnimal.execute({ id, change, condition }));
  }

  @Operation('DELETE /v1/pets/{petId}', {
    id: 'withdrawPet',
    scope: 'pets:manage',
    stability: 'beta',
    summary: 'Withdraw an animal',
    description:
      'Withdraws the animal for good: it is in no list any more, and its identifier answers 404. Its earlier orders ' +
      'stay readable. While an order is placed it is refused with 409 `order_in_progress`. `If-Match` takes the same tags as ' +
      'a change.',
    success: { 204: ['The animal has been withdrawn.'] },
    refusals: [404, 409],
  })
  async withdraw(
    @PetId() id: bigint,
    @Conditions(presentAnimal, presentAnimals) condition: Condition<Animal> | undefined,
  ): Promise<void> {
    await this.withdrawAnimal.execute({ id, condition });
  }

  /** A page, and the position that the cursor of the next one has. */
  private async listed(query: ListAnimalsQuery) {
    if (isById(query)) return this.listAnimals.execute(query);
    const { limit, status, ids, categoryIds, name = '' } = query;
    const after = typeof query.after === 'object' ? query.after : undefined;
    const wanted = { limit, status, ids, categoryIds, name, after } satisfies Fields<ListAnimalsByNameInput>;
    const { items, next } = await this.listAnimalsByName.execute(wanted);
    return { items, next: next && namePositionText(next) };
  }

  /** Given animals share statements, and later pages do, unless they are of categories or names. */
  private turnsOf({ ids, categoryIds, name, after, limit = DEFAULT_PAGE_SIZE }: ListAnimalsQuery) {
    const { finds, pages, reads } = this.turns;
    if (name !== undefined) return { turns: reads };
    if (ids !== undefined) return { turns: finds, weight: ids.length };
    return after !== undefined && categoryIds === undefined ? { turns: pages, weight: limit } : { turns: reads };
  }
}

/** Without a name the cursor was read as an id. */
function isById(query: ListAnimalsQuery): query is ListAnimalsQuery & { after?: bigint } {
  return query.name === undefined;
}

/** Undefined if the cursor isn't one of this name's. */
function positionFrom(text: string, name: unknown): NamePosition | undefined {
  const position = namePositionFrom(text);
  return typeof name === 'string' && position?.nameKey.startsWith(animalNameKey(name)) === true ? position : undefined;
}
