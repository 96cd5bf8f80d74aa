import {
  type Account,
  checkAll,
  type Clock,
  DAY,
  invalid,
  IssueKey,
  KEY_STATES,
  keyName,
  type KeyState,
  later,
  type Scope,
  SCOPES,
  sharedScopes,
  ShowKeys,
  int64From,
} from '@adoption-store/domain';
import { deprecatedUses } from '@adoption-store/web';
import { Body, Controller, Get, Inject, Post, Query } from '@nestjs/common';
import { CLOCK } from '../http/clock.js';
import { SignedIn } from '../http/decorators.js';
import { formOf, wholeNumber } from '../http/forms.js';
import { List, oneOf } from '../http/lists.js';
import { type Answer, page, redirect } from '../http/pages.js';
import { FormOnce } from './form-once.js';

const LONGEST_LIFE = 3_650;
const LONGEST_SEARCH = 100;

/** The states in each list of keys. The first list is shown unless another is asked for. */
const LISTS: Readonly<Record<string, readonly KeyState[]>> = {
  current: ['active', 'disabled'],
  active: ['active'],
  disabled: ['disabled'],
  expired: ['expired'],
  revoked: ['revoked'],
  all: KEY_STATES,
};

const LABELS = { name: 'Name (optional)', expiresIn: 'Expires in days (optional)', scopes: 'What the key may do' };

class NewKeyForm extends formOf(LABELS) {
  /** In the domain's order. */
  readonly checked: readonly Scope[];

  constructor(body: { readonly scopes?: unknown } | undefined) {
    super(body);
    // A single box is sent as a text, several as a list.
    const sent: readonly unknown[] = [body?.scopes].flat();
    this.checked = SCOPES.filter((scope) => sent.includes(scope));
  }
}

/** The list of a person's keys, and the form for a new one. */
@Controller('keys')
export class KeysController {
  constructor(
    private readonly formOnce: FormOnce,
    private readonly shownKeys: ShowKeys,
    private readonly issueKey: IssueKey,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  @Get()
  async show(@SignedIn() account: Account, @Query() query: unknown): Promise<Answer> {
    return this.showKeys(account, query, new NewKeyForm({ scopes: offeredTo(account) }));
  }

  @Post()
  async issue(@SignedIn() account: Account, @Query() query: unknown, @Body() form: NewKeyForm): Promise<Answer> {
    const offered = offeredTo(account);
    const scopes = form.checked.filter((scope) => offered.includes(scope));
    try {
      const { name, days } = checkAll({
        name: () => keyName(form.values.name.trim() || undefined),
        days: () => lifeFrom(form.values.expiresIn),
        scopes: () => {
          if (scopes.length === 0) throw invalid('scopes', 'must be at least one');
        },
      });
      if (!(await this.formOnce.isFirst(form, account))) return redirect('/keys', 'form-sent-before');
      const issued = await this.issueKey.execute({
        accountId: account.id,
        credentialVersion: account.credentialVersion,
        name,
        // No list if every box is checked: the key has what its account has, also later.
        scopes: scopes.length === offered.length ? undefined : scopes,
        expiresAt: days === undefined ? undefined : later(this.clock.now(), days * DAY),
      });
      return page('new-key', issued);
    } catch (error) {
      return this.showKeys(account, query, form.refused(error));
    }
  }

  private async showKeys(account: Account, query: unknown, form: NewKeyForm): Promise<Answer> {
    const checks = { state: oneOf(Object.keys(LISTS)), name: searchText };
    const list = new List('/keys', query, checks, { name: 'Name contains' });
    const { items, bans, operations, ...around } = await this.shownKeys.execute({
      accountId: account.id,
      states: list.wanted === undefined ? [] : LISTS[list.wanted.state ?? 'current'],
      name: list.wanted?.name,
      ...list.place(keyId),
    });
    const now = this.clock.now();
    const uses = [...operations].map(([id, each]) => [id, deprecatedUses(each, now)] as const);
    return page('keys', {
      form,
      items,
      bans,
      deprecated: new Map(uses.filter(([, each]) => each.length > 0)),
      filter: list.filter,
      tabs: list.tabs('state', Object.keys(LISTS), 'current'),
      paging: list.paging(around),
      offered: offeredTo(account),
    });
  }
}

/** Other scopes would be of no use: a key has none that its account lacks. */
function offeredTo(account: Account): readonly Scope[] {
  return sharedScopes({ account }) ?? SCOPES;
}

/** No key has an id below 1, so no list continues there. */
function keyId(text: string): bigint | undefined {
  const id = int64From(text);
  return id === undefined || id < 1n ? undefined : id;
}

/** @throws InvalidInput */
function lifeFrom(text: string): number | undefined {
  const days = wholeNumber(text, 1, LONGEST_LIFE);
  if (days === undefined && text.trim() !== '') {
    throw invalid('expiresIn', `must be 1 to ${LONGEST_LIFE} days, or empty for no expiry`);
  }
  return days;
}

/** @throws InvalidInput */
function searchText(text: string): string {
  if (text.length > LONGEST_SEARCH || text.includes('\0')) {
    throw invalid('name', `must be at most ${LONGEST_SEARCH} characters`);
  }
  return text;
}
