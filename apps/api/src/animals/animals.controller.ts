import { AddAnimal, GetAnimal, ListAnimals } from '@adoption-store/domain';
import { getPetDeprecation } from '@adoption-store/web';
import { Controller, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiContext } from '../http/api-context.js';
import { Idempotency } from '../idempotency/idempotency.js';
import { JsonBody } from '../http/json-body.decorator.js';
import { Operation } from '../http/operation.js';
import { addPageHeaders } from '../http/pages.js';
import { page } from '../http/schema.js';
import { ValidQuery } from '../http/valid-query.decorator.js';
import { animalJson, LUNA, PetId } from './animal.schema.js';
import { ListAnimalsQuery, ANIMALS_CURSOR } from './list-animals.query.js';
import { NewAnimalBody } from './animal.body.js';
import { animalTag, presentAnimal, presentAnimals } from './present-animal.js';

@Controller()
export class AnimalsController {
  constructor(
    private readonly context: ApiContext,
    private readonly idempotency: Idempotency,
    private readonly listAnimals: ListAnimals,
    private readonly addAnimal: AddAnimal,
    private readonly getAnimal: GetAnimal,
  ) {}

  @Operation('GET /v1/pets', {
    id: 'listPets',
    scope: 'pets:read',
    summary: 'List animals',
    description:
      'Lists animals by their identifiers, ascending. If there is another page, the `Link` header has its address.',
    success: { 200: ['A page of animals.', page('Pet', LUNA, { ...LUNA, id: 2, name: 'Milo' })] },
  })
  async list(
    @ValidQuery(ListAnimalsQuery) query: ListAnimalsQuery,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Buffer> {
    const { items, next } = await this.listAnimals.execute(query);
    const body = presentAnimals(items);
    addPageHeaders(request, reply, { address: this.url(request), query, resource: ANIMALS_CURSOR, body, next });
    return body;
  }

  @Operation('POST /v1/pets', {
    id: 'createPet',
    scope: 'pets:write',
    summary: 'Add an animal',
    description: 'Adds an animal. Any status is allowed. Properties that are not listed here are ignored.',
    examples: {
      'an animal': { name: 'Bella', categoryId: 1 },
      'with its status': { name: 'Bella', categoryId: 1, status: 'pending' },
    },
    success: { 201: ['The animal has been added.', animalJson({ ...LUNA, id: 6, name: 'Bella' })] },
  })
  add(
    @JsonBody(NewAnimalBody) body: NewAnimalBody,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    return this.idempotency.once(request, reply, async (transaction) => {
      const animal = await this.addAnimal.execute(body, transaction);
      return { body: presentAnimal(animal), location: `${this.url(request)}/${animal.id}` };
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
  async get(@PetId() id: bigint, @Res({ passthrough: true }) reply: FastifyReply): Promise<string> {
    const animal = await this.getAnimal.execute(id);
    reply.header('etag', animalTag(animal));
    return presentAnimal(animal);
  }

  private url(request: FastifyRequest): string {
    return `${this.context.origin(request)}/v1/pets`;
  }
}
