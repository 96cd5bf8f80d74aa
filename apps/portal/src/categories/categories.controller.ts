import {
  type Account,
  AddCategory,
  type Category,
  GetCategory,
  hasScope,
  ListCategories,
  NameCategory,
  RemoveCategory,
  requireScope,
} from '@adoption-store/domain';
import { Body, Controller, Get, NotFoundException, Param, Post, Query, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { EMPTY_FORM, fields, int64From, problemsOf } from '../http/forms.js';
import { redirect } from '../http/notices.js';
import { Pages, REFUSED } from '../http/pages.js';
import { SignedIn } from '../http/signed-in.guard.js';
import type { Form, Problems } from '../views.js';

/** An account that is held to less than this reads only, as its keys do. */
const TO_CHANGE = 'pets:write';

/** The names of the animals' categories as pages. */
@Controller('categories')
export class CategoriesController {
  constructor(
    private readonly pages: Pages,
    private readonly listCategories: ListCategories,
    private readonly getCategory: GetCategory,
    private readonly addCategory: AddCategory,
    private readonly nameCategory: NameCategory,
    private readonly removeCategory: RemoveCategory,
  ) {}

  @Get()
  async show(
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @SignedIn() account: Account,
    @Query() query: unknown,
  ): Promise<void> {
    await this.showCategories(request, reply, account, query, EMPTY_FORM);
  }

  @Post()
  async add(
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @SignedIn() account: Account,
    @Query() query: unknown,
    @Body() body: unknown,
  ): Promise<void> {
    requireScope({ account }, TO_CHANGE);
    const values = fields(body, 'name', 'number');
    const added = await this.tryToAdd(values);
    if ('problems' in added) {
      await this.showCategories(request, reply, account, query, { values, problems: added.problems });
      return;
    }
    // Redirects to a page that starts with the new category.
    redirect(reply, `/categories?cursor=${added.id - 1n}`, 'category-added');
  }

  @Get(':id/name')
  async showName(
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @SignedIn() account: Account,
    @Param('id') text: string,
  ): Promise<void> {
    requireScope({ account }, TO_CHANGE);
    const id = idFrom(text);
    const current = (await this.find(id))?.name;
    await this.pages.show(request, reply, 'name-category', { ...EMPTY_FORM, id, current });
  }

  @Post(':id/name')
  async name(
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @SignedIn() account: Account,
    @Param('id') text: string,
    @Body() body: unknown,
  ): Promise<void> {
    requireScope({ account }, TO_CHANGE);
    const id = idFrom(text);
    const values = fields(body, 'name');
    try {
      await this.nameCategory.execute({ id, name: values.name });
    } catch (error) {
      const problems = nameProblems(error);
      const current = (await this.find(id))?.name;
      await this.pages.show(request, reply, 'name-category', { values, problems, id, current }, REFUSED);
      return;
    }
    redirect(reply, `/categories?cursor=${id - 1n}`, 'category-named');
  }

  @Get(':id/remove')
  async showRemoval(
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @SignedIn() account: Account,
    @Param('id') text: string,
  ): Promise<void> {
    requireScope({ account }, TO_CHANGE);
    const category = await this.getCategory.execute(idFrom(text));
    await this.pages.show(request, reply, 'remove-category', { ...EMPTY_FORM, category });
  }

  @Post(':id/remove')
  async remove(
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @SignedIn() account: Account,
    @Param('id') text: string,
  ): Promise<void> {
    requireScope({ account }, TO_CHANGE);
    const id = idFrom(text);
    const category = await this.getCategory.execute(id);
    try {
      await this.removeCategory.execute({ id });
    } catch (error) {
      const form = { values: {}, problems: problemsOf(error, {}) };
      await this.pages.show(request, reply, 'remove-category', { ...form, category }, REFUSED);
      return;
    }
    redirect(reply, '/categories', 'category-removed');
  }

  /** Under a number that was typed only if that has no name yet: to change one there is another page. */
  private async tryToAdd({ name, number }: { readonly name: string; readonly number: string }) {
    if (number !== '') {
      const id = int64From(number);
      if (id === undefined) return { problems: { number: 'Must be a whole number.' } };
      const named = await this.find(id);
      if (named !== undefined) return { problems: { number: `Has the name “${named.name}” already.` } };
      return this.nameCategory.execute({ id, name }).then(
        () => ({ id }),
        (error: unknown) => ({ problems: nameProblems(error) }),
      );
    }
    return this.addCategory.execute({ name }).catch((error: unknown) => ({ problems: nameProblems(error) }));
  }

  private async find(id: bigint): Promise<Category | undefined> {
    const { items } = await this.listCategories.execute({ ids: [id] });
    return items[0];
  }

  private async showCategories(
    request: FastifyRequest,
    reply: FastifyReply,
    account: Account,
    query: unknown,
    form: Form,
  ): Promise<void> {
    const after = int64From(fields(query, 'cursor').cursor);
    const { items: categories, next } = await this.listCategories.execute({ after });
    await this.pages.show(
      request,
      reply,
      'categories',
      {
        ...form,
        categories,
        mayChange: hasScope({ account }, TO_CHANGE),
        next: next === undefined ? undefined : `/categories?cursor=${next}`,
      },
      form === EMPTY_FORM ? 200 : REFUSED,
    );
  }
}

/** A name that is taken is a problem of its field. */
function nameProblems(error: unknown): Problems {
  const { form, ...problems } = problemsOf(error, { name: 'name' });
  return form === undefined ? problems : { ...problems, name: form };
}

function idFrom(text: string): bigint {
  const id = int64From(text);
  if (id === undefined) throw new NotFoundException();
  return id;
}
