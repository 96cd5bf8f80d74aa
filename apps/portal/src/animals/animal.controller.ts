import {
  type Account,
  type Animal,
  animalErrors,
  type Category,
  ChangeAnimal,
  checkAll,
  DomainError,
  type Fields,
  GetAnimal,
  GetPlacedOrder,
  hasScopes,
  ListCategories,
  ListOrders,
  MAX_PAGE_SIZE,
  newAnimal,
  type NewAnimal,
  PET_STATUSES,
  requireScopes,
  WithdrawAnimal,
} from '@adoption-store/domain';
import { Body, Controller, Get, Post } from '@nestjs/common';
import { CategoryChoice, offered } from '../categories/category-choice.js';
import { SignedIn } from '../http/decorators.js';
import { type Form, formOf } from '../http/forms.js';
import { Id, oneOf } from '../http/lists.js';
import { type Answer, page, redirect } from '../http/pages.js';
import { viewHelpers } from '../view-helpers.js';
import { fingerprint, refusedChange, unchangedSince } from '../http/versions.js';

/** An account without this scope can only read, like its keys. */
const TO_CHANGE = ['pets:manage'] as const;

class ChangeForm extends formOf({ name: 'Name', categoryId: 'Category', status: 'Status', version: '' }, 'edit-') {}
class WithdrawalForm extends formOf({}) {}

const CHANGED =
  'Somebody has changed this animal meanwhile: the page shows it as it is now. Save again to replace that.';

@Controller('catalogue/:id')
export class AnimalController {
  constructor(
    private readonly getAnimal: GetAnimal,
    private readonly changeAnimal: ChangeAnimal,
    private readonly withdrawAnimal: WithdrawAnimal,
    private readonly listCategories: ListCategories,
    private readonly listOrders: ListOrders,
    private readonly getPlacedOrder: GetPlacedOrder,
    private readonly categoryChoice: CategoryChoice,
  ) {}

  @Get()
  async show(@SignedIn() account: Account, @Id() id: bigint): Promise<Answer> {
    return this.showAnimal(account, await this.getAnimal.execute(id));
  }

  @Post()
  async change(@SignedIn() account: Account, @Id() id: bigint, @Body() form: ChangeForm): Promise<Answer> {
    requireScopes({ account }, TO_CHANGE);
    const { values } = form;
    const categoryId = await this.categoryChoice.read(values.categoryId);
    try {
      const change = checkAll({
        // To show all problems at once: the domain never sees a category that isn't a number.
        name: () => newAnimal({ name: values.name, categoryId: 0n }).name,
        categoryId,
        status: () => oneOf(PET_STATUSES)(values.status, 'status'),
      } satisfies Fields<NewAnimal>);
      await this.changeAnimal.execute({ id, change, condition: unchangedSince(values.version, versionOf) });
    } catch (error) {
      const animal = await this.getAnimal.execute(id);
      const now = { version: versionOf(animal), problem: CHANGED };
      const refused = refusedChange(form, error, now);
      return this.showAnimal(account, animal, await this.named(refused, error, account, animal));
    }
    return redirect(`/catalogue/${id}`, 'animal-changed');
  }

  @Get('withdraw')
  async showWithdrawal(@SignedIn() account: Account, @Id() id: bigint): Promise<Answer> {
    requireScopes({ account }, TO_CHANGE);
    return page('withdraw-animal', { form: new WithdrawalForm(), animal: await this.getAnimal.execute(id) });
  }

  @Post('withdraw')
  async withdraw(@SignedIn() account: Account, @Id() id: bigint): Promise<Answer> {
    requireScopes({ account }, TO_CHANGE);
    const animal = await this.getAnimal.execute(id);
    try {
      await this.withdrawAnimal.execute({ id });
    } catch (error) {
      const form = await this.named(new WithdrawalForm().refused(error), error, account, animal);
      return page('withdraw-animal', { form, animal });
    }
    return redirect('/catalogue', 'animal-withdrawn');
  }

  /** The refused form. If an order is the reason, it names the animal, and leads to the order if that is the account's. */
  private async named<Refused extends Form>(form: Refused, error: unknown, account: Account, animal: Animal) {
    if (!(error instanceof DomainError) || error.code !== animalErrors.order_in_progress.code) return form;
    const order = await this.getPlacedOrder.execute({ accountId: account.id, animalId: animal.id });
    const name = viewHelpers.isolated(animal.name);
    const problem = `An order for “${name}” is placed. Until it ends, the animal’s status can’t be changed, nor the animal withdrawn.`;
    return form.withProblems({ form: problem }, order && { form: { href: `/orders/${order.id}`, text: 'Your order' } });
  }

  private async showAnimal(account: Account, animal: Animal, form?: ChangeForm): Promise<Answer> {
    const category = await this.categoryChoice.find(animal.categoryId);
    const { items: categories } = await this.listCategories.execute({ limit: MAX_PAGE_SIZE });
    // No index finds an account's orders by their animal, so only the newest are searched.
    const newest = { accountId: account.id, first: 'newest', limit: MAX_PAGE_SIZE } as const;
    const { items: orders, next } = await this.listOrders.execute(newest);
    return page('animal', {
      form: form ?? formFor(animal, category),
      animal,
      category: category?.name,
      offered: categories.map(offered),
      orders: orders.filter(({ animalId }) => animalId === animal.id),
      searched: next === undefined ? undefined : MAX_PAGE_SIZE,
      mayChange: hasScopes({ account }, TO_CHANGE),
    });
  }
}

function formFor(animal: Animal, category: Category | undefined): ChangeForm {
  const { name, categoryId, status } = animal;
  return new ChangeForm({
    name,
    categoryId: category ? offered(category) : String(categoryId),
    status,
    version: versionOf(animal),
  });
}

function versionOf(animal: Animal | undefined): string {
  if (animal === undefined) return '';
  const { name, categoryId, status } = animal;
  return fingerprint(...Object.values({ name, categoryId, status } satisfies Fields<NewAnimal>));
}
