import {
  type Account,
  AnswerOnce,
  type ApiKey,
  checkAll,
  type Clock,
  DAY,
  DisableKey,
  DomainError,
  GetKey,
  HOUR,
  INT64_MAX,
  invalid,
  IssueKey,
  KEY_STATES,
  keyName,
  type KeyState,
  later,
  RenameKey,
  RevokeKey,
  RotateKey,
  type Scope,
  SCOPES,
  sharedScopes,
  ShowKey,
  ShowKeys,
} from '@adoption-store/domain';
import { Body, Controller, Get, Inject, NotFoundException, Param, Post, Query, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CLOCK } from '../http/clock.js';
import { formToken } from '../http/csrf.js';
import { checkedScopes, EMPTY_FORM, fields, problemsOf, wholeNumber } from '../http/forms.js';
import { address, filterFrom, oneOf, pagingOf, placeFrom } from '../http/lists.js';
import { type Notice, redirect } from '../http/notices.js';
import { Pages, REFUSED } from '../http/pages.js';
import { SignedIn } from '../http/signed-in.guard.js';
import type { Form } from '../views.js';

const LONGEST_LIFE = 3_650;
const LONGEST_OVERLAP = 720;
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

/** The form for a new key, below a list. */
interface ShownForm {
  readonly form: Form;
  readonly checked: readonly Scope[];
}

/** A person's keys. Every use case gets the account that must own the key. */
@Controller('keys')
export class KeysController {
  constructor(
    private readonly pages: Pages,
    private readonly answerOnce: AnswerOnce,
    private readonly shownKeys: ShowKeys,
    private readonly shownKey: ShowKey,
    private readonly getKey: GetKey,
    private readonly issueKey: IssueKey,
    private readonly renameKey: RenameKey,
    private readonly disableKey: DisableKey,
    private readonly rotateKey: RotateKey,
    private readonly revokeKey: RevokeKey,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  @Get()
  async show(
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @SignedIn() account: Account,
    @Query() query: unknown,
  ): Promise<void> {
    await this.showKeys(request, reply, account, query, { form: EMPTY_FORM, checked: offeredTo(account) });
  }

  @Post()
  async issue(
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @SignedIn() account: Account,
    @Query() query: unknown,
    @Body() body: unknown,
  ): Promise<void> {
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
      if (!(await this.isFirst(request, reply, account))) return;
      const issued = await this.issueKey.execute({
        accountId: account.id,
        credentialVersion: account.credentialVersion,
        name,
        // No list if every box is checked: the key has what its account has, also later.
        scopes: checked.length === offered.length ? undefined : checked,
        expiresAt: days === undefined ? undefined : later(this.clock.now(), days * DAY),
      });
      await this.pages.show(request, reply, 'new-key', issued);
    } catch (error) {
      const problems = problemsOf(error, { name: 'name', expiresIn: 'expiresIn', scopes: 'scopes' });
      await this.showKeys(request, reply, account, query, { form: { values, problems }, checked });
    }
  }

  @Get(':id')
  async showOne(
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @SignedIn() account: Account,
    @Param('id') id: string,
  ): Promise<void> {
    await this.showKey(request, reply, account, idFrom(id), EMPTY_FORM);
  }

  @Post(':id/name')
  async rename(
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @SignedIn() account: Account,
    @Param('id') text: string,
    @Body() body: unknown,
  ): Promise<void> {
    const id = idFrom(text);
    const values = fields(body, 'name');
    try {
      await this.renameKey.execute({ id, accountId: account.id, name: values.name.trim() || undefined });
    } catch (error) {
      const problems = problemsOf(error, { name: 'name' });
      await this.showKey(request, reply, account, id, { values, problems });
      return;
    }
    redirect(reply, `/keys/${id}`, 'key-renamed');
  }

  @Post(':id/disable')
  async disable(@Res() reply: FastifyReply, @SignedIn() account: Account, @Param('id') text: string): Promise<void> {
    await this.setDisabled(reply, account, text, true);
  }

  @Post(':id/enable')
  async enable(@Res() reply: FastifyReply, @SignedIn() account: Account, @Param('id') text: string): Promise<void> {
    await this.setDisabled(reply, account, text, false);
  }

  @Get(':id/rotate')
  async showRotation(
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @SignedIn() account: Account,
    @Param('id') id: string,
  ): Promise<void> {
    await this.pages.show(request, reply, 'rotate-key', { ...EMPTY_FORM, key: await this.find(account, id) });
  }

  @Post(':id/rotate')
  async rotate(
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @SignedIn() account: Account,
    @Param('id') id: string,
    @Body() body: unknown,
  ): Promise<void> {
    const key = await this.find(account, id);
    const values = fields(body, 'overlap');
    const hours = wholeNumber(values.overlap, 0, LONGEST_OVERLAP);
    if (hours === undefined) {
      const problems = { overlap: `Must be 0 to ${LONGEST_OVERLAP} hours.` };
      await this.pages.show(request, reply, 'rotate-key', { key, values, problems }, REFUSED);
      return;
    }
    if (!(await this.isFirst(request, reply, account))) return;
    try {
      const issued = await this.rotateKey.execute({
        id: key.id,
        accountId: account.id,
        credentialVersion: account.credentialVersion,
        overlap: hours * HOUR,
      });
      await this.pages.show(request, reply, 'new-key', { ...issued, replaced: await this.find(account, id) });
    } catch (error) {
      if (isNotFound(error)) {
        redirect(reply, `/keys/${key.id}`, 'key-not-changed');
        return;
      }
      const problems = problemsOf(error, { overlap: 'overlap' });
      await this.pages.show(request, reply, 'rotate-key', { key, values, problems }, REFUSED);
    }
  }

  @Get(':id/revoke')
  async showRevocation(
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @SignedIn() account: Account,
    @Param('id') id: string,
  ): Promise<void> {
    await this.pages.show(request, reply, 'revoke-key', { key: await this.find(account, id) });
  }

  @Post(':id/revoke')
  async revoke(@Res() reply: FastifyReply, @SignedIn() account: Account, @Param('id') id: string): Promise<void> {
    const { id: keyId } = await this.find(account, id);
    await this.revokeKey.execute({ id: keyId, accountId: account.id });
    redirect(reply, '/keys', 'key-revoked');
  }

  private async showKeys(
    request: FastifyRequest,
    reply: FastifyReply,
    account: Account,
    query: unknown,
    { form, checked }: ShownForm,
  ): Promise<void> {
    const filter = filterFrom(query, { state: oneOf('state', Object.keys(LISTS)), name: searchText });
    const { state = 'current', name } = filter.wanted ?? {};
    const place = placeFrom(query, keyIdFrom);
    const [, states] = LISTS[state] ?? [];
    const page = await this.shownKeys.execute({
      accountId: account.id,
      states: filter.wanted === undefined ? [] : states,
      name,
      ...place,
    });
    const given = { ...filter.form.values, name };
    await this.pages.show(
      request,
      reply,
      'keys',
      {
        ...form,
        items: page.items,
        bans: page.bans,
        deprecated: page.deprecated,
        filter: filter.form,
        tabs: Object.entries(LISTS).map(([each, [title]]) => ({
          name: title,
          address: address('/keys', { ...given, state: each }),
          isCurrent: filter.wanted !== undefined && each === state,
        })),
        paging: pagingOf('/keys', given, place, page),
        offered: offeredTo(account),
        checked,
        now: this.clock.now(),
      },
      form === EMPTY_FORM && filter.wanted !== undefined ? 200 : REFUSED,
    );
  }

  private async showKey(
    request: FastifyRequest,
    reply: FastifyReply,
    { id: accountId }: Account,
    id: bigint,
    form: Form,
  ): Promise<void> {
    const shown = await this.shownKey.execute({ id, accountId });
    const status = form === EMPTY_FORM ? 200 : REFUSED;
    await this.pages.show(request, reply, 'key', { ...form, ...shown, now: this.clock.now() }, status);
  }

  /**
   * A reload or a second click sends the form again and must not make another key. Each form has its own CSRF token,
   * which identifies a form that was already sent.
   */
  private async isFirst(request: FastifyRequest, reply: FastifyReply, { id: accountId }: Account): Promise<boolean> {
    const form = { accountId, key: `form ${formToken(request)}`, fingerprint: 'form' };
    const { isReplay } = await this.answerOnce.execute(form, () => Promise.resolve('sent'));
    if (isReplay) redirect(reply, '/keys', 'form-sent-before');
    return !isReplay;
  }

  private async setDisabled(reply: FastifyReply, account: Account, text: string, isDisabled: boolean): Promise<void> {
    const { id } = await this.find(account, text);
    let notice: Notice = isDisabled ? 'key-disabled' : 'key-enabled';
    try {
      await this.disableKey.execute({ id, accountId: account.id, isDisabled });
    } catch (error) {
      if (!isNotFound(error)) throw error;
      notice = 'key-not-changed';
    }
    redirect(reply, `/keys/${id}`, notice);
  }

  private async find({ id: accountId }: Account, text: string): Promise<ApiKey> {
    return this.getKey.execute({ id: idFrom(text), accountId });
  }
}

/** Other scopes would be of no use: a key has none that its account lacks. */
function offeredTo(account: Account): readonly Scope[] {
  return sharedScopes({ account }) ?? SCOPES;
}

/** The key was found before, but its state doesn't allow the change: another tab or person was faster. */
function isNotFound(error: unknown): boolean {
  return error instanceof DomainError && error.kind === 'not_found';
}

function idFrom(text: string): bigint {
  const id = keyIdFrom(text);
  if (id === undefined) throw new NotFoundException();
  return id;
}

function keyIdFrom(text: string): bigint | undefined {
  const id = /^[1-9]\d{0,18}$/.test(text) ? BigInt(text) : undefined;
  return id === undefined || id > INT64_MAX ? undefined : id;
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
