import {
  type Account,
  AddAnimal,
  type Animal,
  type CategoryId,
  hasScope,
  invalid,
  ListAnimals,
  ListCategories,
  MAX_PAGE_SIZE,
  PET_STATUSES,
  type PetStatus,
  requireScope,
} from '@adoption-store/domain';
import { Body, Controller, Get, NotFoundException, Post, Query, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { EMPTY_FORM, fields, int64From, problemsOf } from '../http/forms.js';
import { redirect } from '../http/notices.js';
import { Pages, REFUSED } from '../http/pages.js';
import { SignedIn } from '../http/signed-in.guard.js';
import type { Form } from '../views.js';

/** An account that is held to less than this reads only, as its keys do. */
const TO_ADD = 'pets:write';

/** The filter of a list. */
interface Which {
  readonly status?: PetStatus | undefined;
  readonly category?: bigint | undefined;
}

/** The animals as pages, for people who don't use the API. */
@Controller('catalogue')
export class CatalogueController {
  constructor(
    private readonly pages: Pages,
    private readonly listAnimals: ListAnimals,
    private readonly addAnimal: AddAnimal,
    private readonly listCategories: ListCategories,
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
      const categoryId = int64From(values.categoryId);
      if (categoryId === undefined) throw invalid('categoryId', 'must be a whole number');
      added = await this.addAnimal.execute({
        name: values.name,
        categoryId,
        status: values.status === '' ? undefined : (values.status as PetStatus),
      });
    } catch (error) {
      const problems = problemsOf(error, { name: 'name', categoryId: 'categoryId', status: 'status' });
      await this.showAnimals(request, reply, account, query, { values, problems });
      return;
    }
    // Redirects to a page that starts with the new animal.
    redirect(reply, `/catalogue${queryOf({ status: added.status }, added.id - 1n)}`, 'animal-added');
  }

  private async showAnimals(
    request: FastifyRequest,
    reply: FastifyReply,
    account: Account,
    query: unknown,
    form: Form,
  ): Promise<void> {
    const { status: asked, categoryId, cursor } = fields(query, 'status', 'categoryId', 'cursor');
    const status = PET_STATUSES.find((each) => each === asked);
    const category = int64From(categoryId) as CategoryId | undefined;
    // A number that can't be read never lists everything.
    if (category === undefined && categoryId !== '') throw new NotFoundException();
    const categoryIds = category === undefined ? undefined : [category];
    const { items: animals, next } = await this.listAnimals.execute({ status, categoryIds, after: int64From(cursor) });
    const names = await this.namesOf([...animals.map((animal) => animal.categoryId), ...(categoryIds ?? [])]);
    const { items: categories } = await this.listCategories.execute({ limit: MAX_PAGE_SIZE });
    const isOther = category !== undefined && categories.every(({ id }) => id !== category);
    await this.pages.show(
      request,
      reply,
      'catalogue',
      {
        ...form,
        category,
        animals,
        status,
        names,
        categories,
        choices: isOther ? [{ id: category, name: names.get(category) }, ...categories] : categories,
        mayAdd: hasScope({ account }, TO_ADD),
        queryOf: (other) => queryOf({ status: other, category }),
        next: next === undefined ? undefined : `/catalogue${queryOf({ status, category }, next)}`,
      },
      form === EMPTY_FORM ? 200 : REFUSED,
    );
  }

  private async namesOf(categories: readonly CategoryId[]): Promise<ReadonlyMap<CategoryId, string>> {
    const ids = [...new Set(categories)];
    const { items } = await this.listCategories.execute({ ids, limit: MAX_PAGE_SIZE });
    return new Map(items.map(({ id, name }) => [id, name]));
  }
}

function queryOf({ status, category }: Which, after?: bigint): string {
  const query = new URLSearchParams({
    ...(status && { status }),
    ...(category !== undefined && { categoryId: String(category) }),
    ...(after !== undefined && { cursor: String(after) }),
  });
  return query.size === 0 ? '' : `?${query.toString()}`;
}
