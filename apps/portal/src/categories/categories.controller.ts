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
import { Body, Controller, Get, Post, Query } from '@nestjs/common';
import { EMPTY_FORM, fields, problemsOf } from '../http/forms.js';
import { address, Id, int64, pagingOf, placeFrom, placeOf } from '../http/lists.js';
import { type Answer, page, redirect } from '../http/pages.js';
import { SignedIn } from '../http/signed-in.guard.js';
import type { Form, Problems } from '../http/views.js';

/** An account that is held to less than this reads only, as its keys do. */
const TO_CHANGE = 'pets:write';

/** The names of the animals' categories as pages. */
@Controller('categories')
export class CategoriesController {
  constructor(
    private readonly listCategories: ListCategories,
    private readonly getCategory: GetCategory,
    private readonly addCategory: AddCategory,
    private readonly nameCategory: NameCategory,
    private readonly removeCategory: RemoveCategory,
  ) {}

  @Get()
  async show(@SignedIn() account: Account, @Query() query: unknown): Promise<Answer> {
    return this.showCategories(account, query, EMPTY_FORM);
  }

  @Post()
  async add(@SignedIn() account: Account, @Query() query: unknown, @Body() body: unknown): Promise<Answer> {
    requireScope({ account }, TO_CHANGE);
    const values = fields(body, 'name', 'number');
    let id: bigint | undefined;
    try {
      const { name, number } = checkAll({
        name: () => categoryName(values.name),
        number: () => (values.number.trim() === '' ? undefined : int64(values.number, 'number')),
      });
      id = number;
      // Under a number that was typed only if that has no name yet: to change one there is another page.
      if (id === undefined) id = (await this.addCategory.execute({ name })).id;
      else await this.nameCategory.execute({ id, name, versions: 'none' });
    } catch (error) {
      const problems =
        id !== undefined && isChanged(error)
          ? { number: `Already named “${(await this.find(id))?.name ?? ''}”.` }
          : problemsOf(error, 'name', 'number');
      return this.showCategories(account, query, { values, problems });
    }
    return redirect(placeIn(id), 'category-added');
  }

  @Get(':id/name')
  async showName(@SignedIn() account: Account, @Id() id: bigint): Promise<Answer> {
    requireScope({ account }, TO_CHANGE);
    return page('name-category', { ...EMPTY_FORM, id, ...(await this.currentOf(id)) });
  }

  @Post(':id/name')
  async name(@SignedIn() account: Account, @Id() id: bigint, @Body() body: unknown): Promise<Answer> {
    requireScope({ account }, TO_CHANGE);
    const values = fields(body, 'name', 'version');
    try {
      const versions = values.version === '' ? 'none' : [values.version];
      await this.nameCategory.execute({ id, name: values.name, versions });
    } catch (error) {
      const { current, version } = await this.currentOf(id);
      // With the version as it is now: whoever has read the problem may send the form again. Otherwise with the same one.
      const again = isChanged(error)
        ? { problems: changedMeanwhile(current), version }
        : { problems: problemsOf(error, 'name', 'number'), version: values.version };
      return page('name-category', { values, id, current, ...again });
    }
    return redirect(placeIn(id), 'category-named');
  }

  @Get(':id/remove')
  async showRemoval(@SignedIn() account: Account, @Id() id: bigint): Promise<Answer> {
    requireScope({ account }, TO_CHANGE);
    return page('remove-category', { ...EMPTY_FORM, category: await this.getCategory.execute(id) });
  }

  @Post(':id/remove')
  async remove(@SignedIn() account: Account, @Id() id: bigint): Promise<Answer> {
    requireScope({ account }, TO_CHANGE);
    const category = await this.getCategory.execute(id);
    try {
      await this.removeCategory.execute({ id });
    } catch (error) {
      return page('remove-category', { values: {}, problems: problemsOf(error), category });
    }
    return redirect('/categories', 'category-removed');
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

  private async showCategories(account: Account, query: unknown, form: Form): Promise<Answer> {
    const place = placeFrom(query, int64From);
    const { items: categories, ...around } = await this.listCategories.execute(place);
    return page('categories', {
      ...form,
      categories,
      mayChange: hasScope({ account }, TO_CHANGE),
      changed: int64From(fields(query, 'changed').changed),
      paging: pagingOf('/categories', {}, place, around),
    });
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
