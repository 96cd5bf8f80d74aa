import {
  type Account,
  AddCategory,
  type Category,
  categoryName,
  checkAll,
  GetCategory,
  hasScopes,
  ListAnimals,
  ListCategories,
  NameCategory,
  DeleteCategory,
  requireScopes,
  int64From,
} from '@adoption-store/domain';
import { Body, Controller, Get, Post, Query } from '@nestjs/common';
import { SignedIn } from '../http/decorators.js';
import { fields, formOf } from '../http/forms.js';
import { address, Id, int64, List, positionOf } from '../http/lists.js';
import { type Answer, page, redirect } from '../http/pages.js';
import { fingerprint, isChanged, refusedChange, unchangedSince } from '../http/versions.js';

/** An account without this scope can only read, like its keys. */
const TO_CHANGE = ['pets:manage'] as const;

class CategoryForm extends formOf({ name: 'Name', id: 'Id (optional)' }) {}
class NameForm extends formOf({ name: 'Name', version: '' }) {}
class RemovalForm extends formOf({}) {}

@Controller('categories')
export class CategoriesController {
  constructor(
    private readonly listCategories: ListCategories,
    private readonly getCategory: GetCategory,
    private readonly addCategory: AddCategory,
    private readonly nameCategory: NameCategory,
    private readonly deleteCategory: DeleteCategory,
    private readonly listAnimals: ListAnimals,
  ) {}

  @Get()
  async show(@SignedIn() account: Account, @Query() query: unknown): Promise<Answer> {
    return this.showCategories(account, query, new CategoryForm());
  }

  @Post()
  async add(@SignedIn() account: Account, @Query() query: unknown, @Body() form: CategoryForm): Promise<Answer> {
    requireScopes({ account }, TO_CHANGE);
    const { values } = form;
    let id: bigint | undefined;
    try {
      const typed = checkAll({
        name: () => categoryName(values.name),
        id: () => (values.id.trim() === '' ? undefined : int64(values.id, 'id')),
      });
      const { name } = typed;
      id = typed.id;
      // An id that was typed must have no name yet. Another page changes names.
      if (id === undefined) id = (await this.addCategory.execute({ name })).id;
      else await this.nameCategory.execute({ id, name, condition: unchangedSince(versionOf(undefined), versionOf) });
    } catch (error) {
      if (id === undefined || !isChanged(error)) return this.showCategories(account, query, form.refused(error));
      const problem = `Already named “${(await this.find(id))?.name ?? ''}”.`;
      return this.showCategories(account, query, form.withProblems({ id: problem }));
    }
    return redirect(positionIn(id), 'category-added');
  }

  @Get(':id/name')
  async showName(@SignedIn() account: Account, @Id() id: bigint): Promise<Answer> {
    requireScopes({ account }, TO_CHANGE);
    const { current, version } = await this.currentOf(id);
    return page('name-category', { form: new NameForm({ name: current, version }), id, current });
  }

  @Post(':id/name')
  async name(@SignedIn() account: Account, @Id() id: bigint, @Body() form: NameForm): Promise<Answer> {
    requireScopes({ account }, TO_CHANGE);
    const { name, version } = form.values;
    try {
      await this.nameCategory.execute({ id, name, condition: unchangedSince(version, versionOf) });
    } catch (error) {
      const { current, version: stored } = await this.currentOf(id);
      const now = { version: stored, problem: changedMeanwhile(current) };
      return page('name-category', { form: refusedChange(form, error, now), id, current });
    }
    return redirect(positionIn(id), 'category-named');
  }

  @Get(':id/remove')
  async showRemoval(@SignedIn() account: Account, @Id() id: bigint): Promise<Answer> {
    requireScopes({ account }, TO_CHANGE);
    const category = await this.getCategory.execute(id);
    return page('remove-category', { form: new RemovalForm(), category, isUsed: await this.isUsed(id) });
  }

  @Post(':id/remove')
  async remove(@SignedIn() account: Account, @Id() id: bigint): Promise<Answer> {
    requireScopes({ account }, TO_CHANGE);
    const category = await this.getCategory.execute(id);
    try {
      await this.deleteCategory.execute({ id });
    } catch (error) {
      return page('remove-category', {
        form: new RemovalForm().refused(error),
        category,
        isUsed: await this.isUsed(id),
      });
    }
    return redirect('/categories', 'category-removed');
  }

  private async isUsed(id: bigint): Promise<boolean> {
    const { items } = await this.listAnimals.execute({ categoryIds: [id], limit: 1 });
    return items.length > 0;
  }

  private async currentOf(id: bigint): Promise<{ readonly current: string | undefined; readonly version: string }> {
    const category = await this.find(id);
    return { current: category?.name, version: versionOf(category) };
  }

  private async find(id: bigint): Promise<Category | undefined> {
    const { items } = await this.listCategories.execute({ ids: [id] });
    return items[0];
  }

  private async showCategories(account: Account, query: unknown, form: CategoryForm): Promise<Answer> {
    const list = new List('/categories', query, {});
    const found = await this.listCategories.execute(list.position(int64From));
    return page('categories', {
      form,
      categories: found.items,
      mayChange: hasScopes({ account }, TO_CHANGE),
      changed: int64From(fields(query, 'changed').changed),
      paging: list.paging(found),
    });
  }
}

/** The address of the list page that shows the category, marked as new. */
function positionIn(id: bigint): string {
  return `${address('/categories', { ...positionOf(id), changed: id })}#category-${id}`;
}

/** Identifies the name that a page shows, as a field of its form. Empty without a name. */
function versionOf(category: Category | undefined): string {
  return category === undefined ? '' : fingerprint(category.name);
}

function changedMeanwhile(current: string | undefined): string {
  const now = current === undefined ? 'it has no name any more' : `its name is “${current}” now`;
  return `Somebody has changed this category meanwhile: ${now}. Save again to replace it.`;
}
