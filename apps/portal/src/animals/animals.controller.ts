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
  ListAnimalsByName,
  ListCategories,
  MAX_PAGE_SIZE,
  namePositionFrom,
  namePositionText,
  newAnimal,
  type NewAnimal,
  PET_STATUSES,
  requireScopes,
} from '@adoption-store/domain';
import { Body, Controller, Get, Post, Query } from '@nestjs/common';
import { SignedIn } from '../http/decorators.js';
import { fields, formOf } from '../http/forms.js';
import { CategoryChoice, offered } from '../categories/category-choice.js';
import { address, EMPTY_PAGE, int64, List, oneOf, searchText } from '../http/lists.js';
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
    private readonly listAnimalsByName: ListAnimalsByName,
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
    // The list stays as it was filtered, if that shows the new animal, which is the first of its page.
    const { status, categoryId: shownCategory } = listOf(query).wanted ?? {};
    const filter = {
      status: status === added.status ? status : undefined,
      categoryId: shownCategory === added.categoryId ? shownCategory : undefined,
    };
    const shown = address('/catalogue', { ...filter, after: added.id + 1n, added: added.id });
    return redirect(`${shown}#animal-${added.id}`, 'animal-added');
  }

  private async showAnimals(account: Account, query: unknown, form: AnimalForm): Promise<Answer> {
    const list = listOf(query);
    const { status, categoryId } = list.wanted ?? {};
    const found = await this.found(list);
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
      paging: found.paging,
    });
  }

  /** The newest animals, or those that were searched for. Digits are an id, and if no animal has it, a name. */
  private async found(list: ReturnType<typeof listOf>) {
    if (list.wanted === undefined) return { items: [], paging: list.paging(EMPTY_PAGE) };
    const { status, categoryId, find } = list.wanted;
    const filter = { status, categoryIds: categoryId === undefined ? undefined : [categoryId] };
    const id = int64From(find ?? '');
    if (find === undefined || id !== undefined) {
      const ids = id === undefined ? undefined : [id];
      const byId = await this.listAnimals.execute({ ...filter, ids, first: 'newest', ...list.position(int64From) });
      if (find === undefined || byId.items.length > 0) return { items: byId.items, paging: list.paging(byId) };
    }
    const { after } = list.position(namePositionFrom);
    const named = await this.listAnimalsByName.execute({ ...filter, name: find, after });
    return { items: named.items, paging: list.paging(named, namePositionText) };
  }

  private async namesOf(categories: readonly CategoryId[]): Promise<ReadonlyMap<CategoryId, string>> {
    const ids = [...new Set(categories)];
    const { items } = await this.listCategories.execute({ ids, limit: MAX_PAGE_SIZE });
    return new Map(items.map(({ id, name }) => [id, name]));
  }
}

function listOf(query: unknown) {
  const checks = { status: oneOf(PET_STATUSES), categoryId: int64, find: searchText };
  return new List('/catalogue', query, checks, { find: 'Name or id', categoryId: 'Category' });
}
