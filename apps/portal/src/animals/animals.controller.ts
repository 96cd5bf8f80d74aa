import {
  type Account,
  AddAnimal,
  type Animal,
  type CategoryId,
  checkAll,
  hasScope,
  ListAnimals,
  ListCategories,
  MAX_PAGE_SIZE,
  newAnimal,
  PET_STATUSES,
  requireScope,
  int64From,
} from '@adoption-store/domain';
import { Body, Controller, Get, Post, Query } from '@nestjs/common';
import { EMPTY_FORM, fields, problemsOf } from '../http/forms.js';
import { address, EMPTY_PAGE, filterFrom, int64, oneOf, pagingOf, placeFrom, placeOf } from '../http/lists.js';
import { type Answer, page, redirect } from '../http/pages.js';
import { SignedIn } from '../http/signed-in.guard.js';
import type { Form } from '../http/views.js';

/** An account that is held to less than this reads only, as its keys do. */
const TO_ADD = 'pets:write';

/** The animals as pages, for people who don't use the API. */
@Controller('catalogue')
export class AnimalsController {
  constructor(
    private readonly listAnimals: ListAnimals,
    private readonly addAnimal: AddAnimal,
    private readonly listCategories: ListCategories,
  ) {}

  @Get()
  async show(@SignedIn() account: Account, @Query() query: unknown): Promise<Answer> {
    return this.showAnimals(account, query, EMPTY_FORM);
  }

  @Post()
  async add(@SignedIn() account: Account, @Query() query: unknown, @Body() body: unknown): Promise<Answer> {
    requireScope({ account }, TO_ADD);
    const values = fields(body, 'name', 'categoryId', 'status');
    let added: Animal;
    try {
      const { categoryId, status } = checkAll({
        // All problems at once: the category's text may be no number, which the domain never sees.
        animal: () => newAnimal({ name: values.name, categoryId: 0n }),
        categoryId: () => int64(values.categoryId, 'categoryId'),
        status: () => (values.status === '' ? undefined : oneOf(PET_STATUSES)(values.status, 'status')),
      });
      added = await this.addAnimal.execute({ name: values.name, categoryId, status });
    } catch (error) {
      const problems = problemsOf(error, 'name', 'categoryId', 'status');
      return this.showAnimals(account, query, { values, problems });
    }
    // The list stays as it was filtered, if that shows the new animal.
    const { status, categoryId } = filterOf(query).wanted ?? {};
    const filter = {
      status: status === added.status ? status : undefined,
      categoryId: categoryId === added.categoryId ? categoryId : undefined,
    };
    const shown = address('/catalogue', { ...filter, ...placeOf(added.id), added: added.id });
    return redirect(`${shown}#animal-${added.id}`, 'animal-added');
  }

  private async showAnimals(account: Account, query: unknown, form: Form): Promise<Answer> {
    const filter = filterOf(query);
    const place = placeFrom(query, int64From);
    const { status, categoryId, id } = filter.wanted ?? {};
    const only = (each: bigint | undefined) => (each === undefined ? undefined : [each]);
    const wanted = { status, ids: only(id), categoryIds: only(categoryId) };
    const { items: animals, ...around } =
      filter.wanted === undefined ? EMPTY_PAGE : await this.listAnimals.execute({ ...wanted, ...place });
    const category = categoryId as CategoryId | undefined;
    const names = await this.namesOf([
      ...animals.map((animal) => animal.categoryId),
      ...(category === undefined ? [] : [category]),
    ]);
    const { items: categories } = await this.listCategories.execute({ limit: MAX_PAGE_SIZE });
    const isOther = category !== undefined && categories.every((each) => each.id !== category);
    const given = { status, categoryId, id };
    return page('catalogue', {
      ...form,
      category,
      animals,
      status,
      filter: filter.form,
      added: int64From(fields(query, 'added').added),
      names,
      categories,
      choices: isOther ? [{ id: category, name: names.get(category) }, ...categories] : categories,
      mayAdd: hasScope({ account }, TO_ADD),
      addressOf: (other) => address('/catalogue', { ...given, status: other }),
      paging: pagingOf('/catalogue', given, place, around),
    });
  }

  private async namesOf(categories: readonly CategoryId[]): Promise<ReadonlyMap<CategoryId, string>> {
    const ids = [...new Set(categories)];
    const { items } = await this.listCategories.execute({ ids, limit: MAX_PAGE_SIZE });
    return new Map(items.map(({ id, name }) => [id, name]));
  }
}

function filterOf(query: unknown) {
  return filterFrom(query, { status: oneOf(PET_STATUSES), categoryId: int64, id: int64 });
}
