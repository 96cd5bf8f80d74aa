import { AddAnimal, GetAnimal, ListAnimals, int64From } from '@adoption-store/domain';
import { getPetDeprecation } from '@adoption-store/web';
import { Controller, Get, Param, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiContext } from '../http/api-context.js';
import { getPetDeprecationHeaders, isGone } from '../http/deprecation.js';
import { HttpRefusal } from '../http/error-codes.js';
import { Idempotency } from '../idempotency/idempotency.js';
import { JsonBody } from '../http/json-body.decorator.js';
import { addPageHeaders } from '../http/pages.js';
import { ValidQuery } from '../http/valid-query.decorator.js';
import { RequiresScope } from '../http/required-scope.js';
import { ListAnimalsQuery, ANIMALS_CURSOR } from './list-animals.query.js';
import { NewAnimalBody } from './new-animal.body.js';
import { animalTag, presentAnimal, presentAnimals } from './present-animal.js';

@Controller('v1/pets')
export class AnimalsController {
  constructor(
    private readonly context: ApiContext,
    private readonly idempotency: Idempotency,
    private readonly listAnimals: ListAnimals,
    private readonly addAnimal: AddAnimal,
    private readonly getAnimal: GetAnimal,
  ) {}

  @Get()
  @RequiresScope('pets:read')
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

  @Post()
  @RequiresScope('pets:write')
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

  /** @deprecated See `getPetDeprecation`. */
  @Get(':petId')
  @RequiresScope('pets:read')
  async get(
    @Param('petId') petId: string,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    const id = int64From(petId);
    reply.headers(getPetDeprecationHeaders(this.context.origin(request), id));
    if (isGone(getPetDeprecation, this.context.clock)) {
      throw new HttpRefusal('gone', 'GET /v1/pets/{petId} has been removed, use GET /v1/pets?id={petId}');
    }
    if (id === undefined)
      throw new HttpRefusal('not_found', 'petId must be a 64-bit integer, so there is no such animal');
    const animal = await this.getAnimal.execute(id);
    reply.header('etag', animalTag(animal));
    return presentAnimal(animal);
  }

  private url(request: FastifyRequest): string {
    return `${this.context.origin(request)}/v1/pets`;
  }
}
