import { hash } from 'node:crypto';
import {
  type Account,
  AddCategory,
  type Category,
  categoryName,
  categoryVersion,
  checkAll,
  DomainError,
  GetCategory,
  hasScope,
  ListCategories,
  NameCategory,
  RemoveCategory,
  requireScope,
  int64From,
} from '@adoption-store/domain';
import { Body, Controller, Get, Param, Post, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { EMPTY_FORM, fields, problemsOf } from '../http/forms.js';
import { address, idFrom, int64, pagingOf, placeFrom, placeOf } from '../http/lists.js';
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
  async show(@Res() reply: FastifyReply, @SignedIn() account: Account, @Query() query: unknown): Promise<void> {
    await this.showCategories(reply, account, query, EMPTY_FORM);
  }

  @Post()
  async add(
    @Res() reply: FastifyReply,
    @SignedIn() account: Account,
    @Query() query: unknown,
    @Body() body: unknown,
  ): Promise<void> {
    requireScope({ account }, TO_CHANGE);
    const values = fields(body, 'name', 'number');
    const added = await this.tryToAdd(values);
    if ('problems' in added) {
      await this.showCategories(reply, account, query, { values, problems: added.problems });
      return;
    }
    redirect(reply, placeIn(added.id), 'category-added');
  }

  @Get(':id/name')
  async showName(@Res() reply: FastifyReply, @SignedIn() account: Account, @Param('id') text: string): Promise<void> {
    requireScope({ account }, TO_CHANGE);
    const id = idFrom(text);
    const shown = await this.currentOf(id);
    await this.pages.show(reply, 'name-category', { ...EMPTY_FORM, id, ...shown });
  }

  @Post(':id/name')
  async name(
    @Res() reply: FastifyReply,
    @SignedIn() account: Account,
    @Param('id') text: string,
    @Body() body: unknown,
  ): Promise<void> {
    requireScope({ account }, TO_CHANGE);
    const id = idFrom(text);
    const values = fields(body, 'name', 'version');
    try {
      const versions = values.version === '' ? 'none' : [values.version];
      await this.nameCategory.execute({ id, name: values.name, versions });
    } catch (error) {
      const shown = await this.currentOf(id);
      const problems = isChanged(error) ? changedMeanwhile(shown.current) : nameProblems(error);
      // With the version as it is now: whoever has read the problem may send the form again. Otherwise with the same one.
      const version = isChanged(error) ? shown.version : values.version;
      await this.pages.show(reply, 'name-category', { values, problems, id, ...shown, version }, REFUSED);
      return;
    }
    redirect(reply, placeIn(id), 'category-named');
  }

  @Get(':id/remove')
  async showRemoval(
    @Res() reply: FastifyReply,
    @SignedIn() account: Account,
    @Param('id') text: string,
  ): Promise<void> {
    requireScope({ account }, TO_CHANGE);
    const category = await this.getCategory.execute(idFrom(text));
    await this.pages.show(reply, 'remove-category', { ...EMPTY_FORM, category });
  }

  @Post(':id/remove')
  async remove(@Res() reply: FastifyReply, @SignedIn() account: Account, @Param('id') text: string): Promise<void> {
    requireScope({ account }, TO_CHANGE);
    const id = idFrom(text);
    const category = await this.getCategory.execute(id);
    try {
      await this.removeCategory.execute({ id });
    } catch (error) {
      const form = { values: {}, problems: problemsOf(error, {}) };
      await this.pages.show(reply, 'remove-category', { ...form, category }, REFUSED);
      return;
    }
    redirect(reply, '/categories', 'category-removed');
  }

  /** Under a number that was typed only if that has no name yet: to change one there is another page. */
  private async tryToAdd(values: { readonly name: string; readonly number: string }) {
    try {
      const { name, number } = checkAll({
        name: () => categoryName(values.name),
        number: () => (values.number.trim() === '' ? undefined : int64('number')(values.number)),
      });
      if (number === undefined) return await this.addCategory.execute({ name });
      await this.nameCategory.execute({ id: number, name, versions: 'none' });
      return { id: number };
    } catch (error) {
      if (!isChanged(error)) return { problems: nameProblems(error) };
      const named = await this.find(int64('number')(values.number));
      return { problems: { number: `Already named “${named?.name ?? ''}”.` } };
    }
  }

  private async currentOf(id: bigint): Promise<{ readonly current: string | undefined; readonly version: string }> {
    const category = await this.find(id);
    const version = category && categoryVersion(category, (text) => hash('sha256', text));
    return { current: category?.name, version: version ?? '' };
  }

  private async find(id: bigint): Promise<Category | undefined> {
    const { items } = await this.listCategories.execute({ ids: [id] });
    return items[0];
  }

  private async showCategories(reply: FastifyReply, account: Account, query: unknown, form: Form): Promise<void> {
    const place = placeFrom(query, int64From);
    const page = await this.listCategories.execute(place);
    await this.pages.show(
      reply,
      'categories',
      {
        ...form,
        categories: page.items,
        mayChange: hasScope({ account }, TO_CHANGE),
        changed: int64From(fields(query, 'changed').changed),
        paging: pagingOf('/categories', {}, place, page),
      },
      form === EMPTY_FORM ? 200 : REFUSED,
    );
  }
}

/** The address of the list where the category is shown, and marked. */
function placeIn(id: bigint): string {
  return `${address('/categories', { ...placeOf(id), changed: id })}#category-${id}`;
}

function isChanged(error: unknown): boolean {
  return error instanceof DomainError && error.code === 'precondition_failed';
}

function changedMeanwhile(current: string | undefined): Problems {
  const now = current === undefined ? 'it has no name any more' : `its name is “${current}” now`;
  return { form: `Somebody has changed this category meanwhile: ${now}. Save again to replace it.` };
}

/** A name that is taken is a problem of its field. */
function nameProblems(error: unknown): Problems {
  const { form, ...problems } = problemsOf(error, { name: 'name', number: 'number' });
  return form === undefined ? problems : { ...problems, name: form };
}
