import {
  type Account,
  AddAnimal,
  type Animal,
  hasScope,
  invalid,
  ListAnimals,
  PET_STATUSES,
  type PetStatus,
  requireScope,
} from '@adoption-store/domain';
import { Body, Controller, Get, Post, Query, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { EMPTY_FORM, fields, problemsOf } from '../http/forms.js';
import { redirect } from '../http/notices.js';
import { Pages, REFUSED } from '../http/pages.js';
import { SignedIn } from '../http/signed-in.guard.js';
import type { Form } from '../views.js';

/** An account that is held to less than this reads only, as its keys do. */
const TO_ADD = 'pets:write';

/** The animals as pages, for people who don't use the API. */
@Controller('catalogue')
export class CatalogueController {
  constructor(
    private readonly pages: Pages,
    private readonly listAnimals: ListAnimals,
    private readonly addAnimal: AddAnimal,
  ) {}

  @Get()
  async show(
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @SignedIn() account: Account,
    @Query() query: unknown,
  ): Promise<void> {
    await this.showAnimals(request, reply, account, query, EMPTY_FORM);
  }

  @Post()
  async add(
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @SignedIn() account: Account,
    @Query() query: unknown,
    @Body() body: unknown,
  ): Promise<void> {
    requireScope({ account }, TO_ADD);
    const values = fields(body, 'name', 'categoryId', 'status');
    let added: Animal;
    try {
      if (!isInteger(values.categoryId)) throw invalid('categoryId', 'must be a whole number');
      added = await this.addAnimal.execute({
        name: values.name,
        categoryId: BigInt(values.categoryId),
        status: values.status === '' ? undefined : (values.status as PetStatus),
      });
    } catch (error) {
      const problems = problemsOf(error, { name: 'name', categoryId: 'categoryId', status: 'status' });
      await this.showAnimals(request, reply, account, query, { values, problems });
      return;
    }
    // Redirects to a page that starts with the new animal.
    redirect(reply, addressOf(added.status, added.id - 1n), 'animal-added');
  }

  private async showAnimals(
    request: FastifyRequest,
    reply: FastifyReply,
    account: Account,
    query: unknown,
    form: Form,
  ): Promise<void> {
    const asked = fields(query, 'status', 'cursor');
    const status = PET_STATUSES.find((each) => each === asked.status);
    const after = isInteger(asked.cursor) ? BigInt.asIntN(64, BigInt(asked.cursor)) : undefined;
    const { items: animals, next } = await this.listAnimals.execute({ status, after });
    await this.pages.show(
      request,
      reply,
      'catalogue',
      {
        ...form,
        animals,
        status,
        mayAdd: hasScope({ account }, TO_ADD),
        next: next === undefined ? undefined : addressOf(status, next),
      },
      form === EMPTY_FORM ? 200 : REFUSED,
    );
  }
}

function isInteger(text: string): boolean {
  return /^-?\d{1,19}$/.test(text);
}

function addressOf(status: PetStatus | undefined, after: bigint): string {
  const query = new URLSearchParams({ ...(status && { status }), cursor: String(after) });
  return `/catalogue?${query.toString()}`;
}
