import {
  type Account,
  AddAnimal,
  type Animal,
  type CategoryId,
  checkAll,
  type Fields,
  hasScopes,
  int64From,
  ListAnimals,
  ListCategories,
  MAX_PAGE_SIZE,
  newAnimal,
  type NewAnimal,
  PET_STATUSES,
  requireScopes,
} from '@adoption-store/domain';
import { Body, Controller, Get, Post, Query } from '@nestjs/common';
import { SignedIn } from '../http/decorators.js';
import { fields, formOf } from '../http/forms.js';
import { CategoryChoice, offered } from '../categories/category-choice.js';
import { address, EMPTY_PAGE, int64, List, oneOf, positionOf } from '../http/lists.js';
import { type Answer, page, redirect } from '../http/pages.js';

/** An account without this scope can only read, like its keys. */
const TO_ADD = ['pets:write'] as const;

const LABELS = { name: 'Name', categoryId: 'Category', status: 'Status' } satisfies Fields<NewAnimal>;

class AnimalForm extends formOf(LABELS, 'add-') {}

/** The animals as pages, for people who don't use the API. */
@Controller('catalogue')
export class AnimalsController {
  constructor(
    private readonly listAnimals: ListAnimals,
    private readonly addAnimal: AddAnimal,
    private readonly listCategories: ListCategories,
    private readonly categoryChoice: CategoryChoice,
  ) {}

  @Get()
  async show(@SignedIn() account: Account, @Query() query: unknown): Promise<Answer> {
    return this.showAnimals(account, query, new AnimalForm());
  }

  @Post()
  async add(@SignedIn() account: Account, @Query() query: unknown, @Body() form: AnimalForm): Promise<Answer> {
    requireScopes({ account }, TO_ADD);
    const { values } = form;
    let added: Animal;
    const categoryId = await this.categoryChoice.read(values.categoryId);
    try {
      const checked = checkAll({
        // To show all problems at once: the domain never sees a category that isn't a number.
        animal: () => newAnimal({ name: values.name, categoryId: 0n }),
        categoryId,
        status: () => (values.status === '' ? undefined : oneOf(PET_STATUSES)(values.status, 'status')),
      });
      added = await this.addAnimal.execute({ ...checked, name: values.name });
    } catch (error) {
      return this.showAnimals(account, query, form.refused(error));
    }
    // The list stays as it was filtered, if that shows the new animal.
    const { status, categoryId: shownCategory } = listOf(query).wanted ?? {};
    const filter = {
      status: status === added.status ? status : undefined,
      categoryId: shownCategory === added.categoryId ? shownCategory : undefined,
    };
    const shown = address('/catalogue', { ...filter, ...positionOf(added.id), added: added.id });
    return redirect(`${shown}#animal-${added.id}`, 'animal-added');
  }

  private async showAnimals(account: Account, query: unknown, form: AnimalForm): Promise<Answer> {
    const list = listOf(query);
    const { status, categoryId, id } = list.wanted ?? {};
    const only = (each: bigint | undefined) => (each === undefined ? undefined : [each]);
    const wanted = { status, ids: only(id), categoryIds: only(categoryId) };
    const found =
      list.wanted === undefined
        ? EMPTY_PAGE
        : await this.listAnimals.execute({ ...wanted, ...list.position(int64From) });
    const animals = found.items;
    const category = categoryId as CategoryId | undefined;
    const names = await this.namesOf([
      ...animals.map((animal) => animal.categoryId),
      ...(category === undefined ? [] : [category]),
    ]);
    const { items: categories } = await this.listCategories.execute({ limit: MAX_PAGE_SIZE });
    const isOther = category !== undefined && categories.every((each) => each.id !== category);
    return page('catalogue', {
      form,
      category,
      animals,
      status,
      filter: list.filter,
      added: int64From(fields(query, 'added').added),
      names,
      offered: categories.map(offered),
      choices: isOther ? [{ id: category, name: names.get(category) }, ...categories] : categories,
      mayAdd: hasScopes({ account }, TO_ADD),
      tabs: list.tabs('status', [undefined, ...PET_STATUSES]),
      paging: list.paging(found),
    });
  }

  private async namesOf(categories: readonly CategoryId[]): Promise<ReadonlyMap<CategoryId, string>> {
    const ids = [...new Set(categories)];
    const { items } = await this.listCategories.execute({ ids, limit: MAX_PAGE_SIZE });
    return new Map(items.map(({ id, name }) => [id, name]));
  }
}

function listOf(query: unknown) {
  const checks = { status: oneOf(PET_STATUSES), categoryId: int64, id: int64 };
  return new List('/catalogue', query, checks, { id: 'Id', categoryId: 'Category' });
}
