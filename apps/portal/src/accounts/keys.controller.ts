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
import { checkedScopes, EMPTY_FORM, fields, problemsOf, wholeNumber } from '../http/forms.js';
import { address, filterFrom, oneOf, pagingOf, placeFrom } from '../http/lists.js';
import { type Answer, page, redirect } from '../http/pages.js';
import { SignedIn } from '../http/signed-in.guard.js';
import type { Form } from '../http/views.js';
import { FormOnce } from './form-once.js';

const LONGEST_LIFE = 3_650;
const LONGEST_SEARCH = 100;

/** The lists of keys: a name for people, and the states. The first one is shown unless another is asked for. */
const LISTS: Readonly<Record<string, readonly [name: string, states: readonly KeyState[]]>> = {
  current: ['Current', ['active', 'disabled']],
  active: ['Active', ['active']],
  disabled: ['Disabled', ['disabled']],
  expired: ['Expired', ['expired']],
  revoked: ['Revoked', ['revoked']],
  all: ['All', KEY_STATES],
};

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
    return this.showKeys(account, query, { ...EMPTY_FORM, checked: offeredTo(account) });
  }

  @Post()
  async issue(@SignedIn() account: Account, @Query() query: unknown, @Body() body: unknown): Promise<Answer> {
    const values = fields(body, 'name', 'expiresIn');
    const offered = offeredTo(account);
    const checked = checkedScopes(body).filter((scope) => offered.includes(scope));
    try {
      const { name, days } = checkAll({
        name: () => keyName(values.name.trim() || undefined),
        days: () => lifeFrom(values.expiresIn),
        scopes: () => {
          if (checked.length === 0) throw invalid('scopes', 'must be at least one');
        },
      });
      if (!(await this.formOnce.isFirst(body, account))) return redirect('/keys', 'form-sent-before');
      const issued = await this.issueKey.execute({
        accountId: account.id,
        credentialVersion: account.credentialVersion,
        name,
        // No list if every box is checked: the key has what its account has, also later.
        scopes: checked.length === offered.length ? undefined : checked,
        expiresAt: days === undefined ? undefined : later(this.clock.now(), days * DAY),
      });
      return page('new-key', issued);
    } catch (error) {
      const problems = problemsOf(error, 'name', 'expiresIn', 'scopes');
      return this.showKeys(account, query, { values, problems, checked });
    }
  }

  private async showKeys(
    account: Account,
    query: unknown,
    form: Form & { readonly checked: readonly Scope[] },
  ): Promise<Answer> {
    const filter = filterFrom(query, { state: oneOf(Object.keys(LISTS)), name: searchText });
    const { state = 'current', name } = filter.wanted ?? {};
    const place = placeFrom(query, keyId);
    const states = filter.wanted === undefined ? [] : LISTS[state]?.[1];
    const { items, bans, operations, ...around } = await this.shownKeys.execute({
      accountId: account.id,
      states,
      name,
      ...place,
    });
    const now = this.clock.now();
    const uses = [...operations].map(([id, each]) => [id, deprecatedUses(each, now)] as const);
    const given = { ...filter.form.values, name };
    return page('keys', {
      ...form,
      items,
      bans,
      deprecated: new Map(uses.filter(([, each]) => each.length > 0)),
      filter: filter.form,
      tabs: Object.entries(LISTS).map(([each, [title]]) => ({
        name: title,
        address: address('/keys', { ...given, state: each }),
        isCurrent: filter.wanted !== undefined && each === state,
      })),
      paging: pagingOf('/keys', given, place, around),
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
