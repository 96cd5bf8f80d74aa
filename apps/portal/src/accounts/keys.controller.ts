import {
  type Account,
  AnswerOnce,
  type ApiKey,
  checkAll,
  type Clock,
  DAY,
  DomainError,
  GetKey,
  hasEnded,
  HOUR,
  int64From,
  invalid,
  type IssuedKey,
  IssueKey,
  KEY_STATES,
  type KeyCommand,
  keyName,
  type KeyState,
  later,
  ListKeys,
  MOST_OVERLAP,
  RenameKey,
  RevokeKey,
  RotateKey,
  type Scope,
  SCOPES,
  sharedScopes,
  SwitchKey,
  type Transaction,
} from '@adoption-store/domain';
import { deprecatedUses } from '@adoption-store/web';
import { Body, Controller, Get, Inject, Post, Query, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { CLOCK, SignedIn } from '../http/decorators.js';
import { checkedIn, type Form, formOf, wholeNumber } from '../http/forms.js';
import { Id, List, oneOf, searchText } from '../http/lists.js';
import type { Notice } from '../http/notices.js';
import { type Answer, page, redirect } from '../http/pages.js';
import { logSecurity } from '../http/logs.js';

const LONGEST_LIFE = 3_650;
const LONGEST_OVERLAP = MOST_OVERLAP / HOUR;

/** The states in each list of keys. The first list is shown unless another is asked for. */
const LISTS: Readonly<Record<string, readonly KeyState[]>> = {
  current: ['active', 'disabled'],
  active: ['active'],
  disabled: ['disabled'],
  expired: ['expired'],
  revoked: ['revoked'],
  all: KEY_STATES,
};

const LABELS = {
  name: 'Name (optional)',
  expiresIn: 'Expires in days (optional)',
  access: '',
  scopes: 'What the key may do',
};

class NewKeyForm extends formOf(LABELS) {
  readonly checked: readonly Scope[];

  constructor(body: unknown) {
    super(body);
    this.checked = checkedIn(body, 'scopes', SCOPES);
  }
}

class RenameForm extends formOf({ name: 'Name (optional)' }) {}
class RotateForm extends formOf({ overlap: 'Hours that both keys work' }) {}

/** A person's keys. Every use case gets the account that must own the key. */
@Controller('keys')
export class KeysController {
  constructor(
    private readonly answerOnce: AnswerOnce,
    private readonly listKeys: ListKeys,
    private readonly getKey: GetKey,
    private readonly issueKey: IssueKey,
    private readonly renameKey: RenameKey,
    private readonly switchKey: SwitchKey,
    private readonly rotateKey: RotateKey,
    private readonly revokeKey: RevokeKey,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  @Get()
  async show(@SignedIn() account: Account, @Query() query: unknown): Promise<Answer> {
    return this.listPage(account, query, new NewKeyForm({ access: 'full' }));
  }

  @Post()
  async issue(
    @Req() request: FastifyRequest,
    @SignedIn() account: Account,
    @Query() query: unknown,
    @Body() form: NewKeyForm,
  ): Promise<Answer> {
    const offered = offeredTo(account);
    // No list: the key has what its account has, also later. Anything but full access is held to the checked boxes.
    const scopes = form.values.access === 'full' ? undefined : form.checked.filter((scope) => offered.includes(scope));
    try {
      const { name, days } = checkAll({
        name: () => keyName(form.values.name.trim() || undefined),
        days: () => lifeFrom(form.values.expiresIn),
        scopes: () => {
          if (scopes?.length === 0) throw invalid('scopes', 'must be at least one');
        },
      });
      const input = {
        accountId: account.id,
        credentialVersion: account.credentialVersion,
        name,
        scopes,
        expiresAt: days === undefined ? undefined : later(this.clock.now(), days * DAY),
      };
      const issued = await this.once(form, account, (transaction) => this.issueKey.execute(input, transaction));
      if (issued === undefined) return redirect('/keys', 'form-sent-before');
      logSecurity(request, 'key_made', account, issued.key);
      return page('new-key', issued);
    } catch (error) {
      return this.listPage(account, query, form.refused(error));
    }
  }

  @Get(':id')
  async showOne(@SignedIn() account: Account, @Id() id: bigint): Promise<Answer> {
    return this.keyPage(account, id);
  }

  @Post(':id/name')
  async rename(@SignedIn() account: Account, @Id() id: bigint, @Body() form: RenameForm): Promise<Answer> {
    try {
      await this.renameKey.execute({ ...own(account, id), name: form.values.name.trim() || undefined });
    } catch (error) {
      return this.keyPage(account, id, form.refused(error));
    }
    return redirect(`/keys/${id}`, 'key-renamed');
  }

  @Post(':id/disable')
  async disable(@Req() request: FastifyRequest, @SignedIn() account: Account, @Id() id: bigint): Promise<Answer> {
    return this.setDisabled(request, account, id, true);
  }

  @Post(':id/enable')
  async enable(@Req() request: FastifyRequest, @SignedIn() account: Account, @Id() id: bigint): Promise<Answer> {
    return this.setDisabled(request, account, id, false);
  }

  @Get(':id/rotate')
  async showRotation(@SignedIn() account: Account, @Id() id: bigint): Promise<Answer> {
    return page('rotate-key', { form: new RotateForm({ overlap: '24' }), key: await this.find(account, id) });
  }

  @Post(':id/rotate')
  async rotate(
    @Req() request: FastifyRequest,
    @SignedIn() account: Account,
    @Id() id: bigint,
    @Body() form: RotateForm,
  ): Promise<Answer> {
    const key = await this.find(account, id);
    try {
      const hours = wholeNumber(form.values.overlap, 0, LONGEST_OVERLAP);
      if (hours === undefined) throw invalid('overlap', `must be 0 to ${LONGEST_OVERLAP} hours`);
      const input = { ...own(account, key.id), overlap: hours * HOUR };
      const issued = await this.once(form, account, (transaction) => this.rotateKey.execute(input, transaction));
      if (issued === undefined) return redirect('/keys', 'form-sent-before');
      logSecurity(request, 'key_rotated', account, issued.key);
      return page('new-key', { ...issued, replaced: await this.find(account, id) });
    } catch (error) {
      if (isNotFound(error)) return redirect(`/keys/${id}`, 'key-not-changed');
      return page('rotate-key', { key, form: form.refused(error) });
    }
  }

  @Get(':id/revoke')
  async showRevocation(@SignedIn() account: Account, @Id() id: bigint): Promise<Answer> {
    return page('revoke-key', { key: await this.find(account, id) });
  }

  @Post(':id/revoke')
  async revoke(@Req() request: FastifyRequest, @SignedIn() account: Account, @Id() id: bigint): Promise<Answer> {
    const key = await this.find(account, id);
    await this.revokeKey.execute(own(account, key.id));
    logSecurity(request, 'key_revoked', account, key);
    return redirect('/keys', 'key-revoked');
  }

  private async listPage(account: Account, query: unknown, form: NewKeyForm): Promise<Answer> {
    const checks = { state: oneOf(Object.keys(LISTS)), name: searchText };
    const list = new List('/keys', query, checks, { name: 'Name contains' });
    const found = await this.listKeys.execute({
      accountId: account.id,
      states: list.wanted === undefined ? [] : LISTS[list.wanted.state ?? 'current'],
      name: list.wanted?.name,
      ...list.position(keyId),
    });
    const now = this.clock.now();
    const uses = [...found.operations].map(([id, each]) => [id, deprecatedUses(each, now)] as const);
    return page('keys', {
      form,
      items: found.items,
      bans: found.bans,
      deprecated: new Map(uses.filter(([, each]) => each.length > 0)),
      filter: list.filter,
      tabs: list.tabs('state', Object.keys(LISTS), 'current'),
      paging: list.paging(found),
      offered: offeredTo(account),
    });
  }

  private async keyPage({ id: accountId }: Account, id: bigint, form?: RenameForm): Promise<Answer> {
    const shown = await this.getKey.execute({ id, accountId });
    const now = this.clock.now();
    const deprecated = hasEnded(shown.key, now) ? [] : deprecatedUses(shown.operations, now);
    return page('key', { form: form ?? new RenameForm({ name: shown.key.name }), ...shown, deprecated });
  }

  private async setDisabled(
    request: FastifyRequest,
    account: Account,
    id: bigint,
    isDisabled: boolean,
  ): Promise<Answer> {
    const key = await this.find(account, id);
    let notice: Notice = isDisabled ? 'key-disabled' : 'key-enabled';
    try {
      await this.switchKey.execute({ ...own(account, key.id), isDisabled });
      logSecurity(request, isDisabled ? 'key_disabled' : 'key_enabled', account, key);
    } catch (error) {
      if (!isNotFound(error)) throw error;
      notice = 'key-not-changed';
    }
    return redirect(`/keys/${id}`, notice);
  }

  private async find({ id: accountId }: Account, id: bigint): Promise<ApiKey> {
    return (await this.getKey.execute({ id, accountId })).key;
  }

  /**
   * A reload or a second click sends the form again and must not make another key. Each form has its own CSRF token,
   * which identifies a form that was already sent. Undefined if it was. The mark is stored only if the key is.
   */
  private async once(
    { token }: Form,
    { id: accountId }: Account,
    work: (transaction: Transaction) => Promise<IssuedKey>,
  ): Promise<IssuedKey | undefined> {
    const form = { accountId, key: `form ${token}`, fingerprint: 'form' };
    let issued: IssuedKey | undefined;
    // The answer isn't the key's text, which is never stored.
    await this.answerOnce.execute(form, async (transaction) => {
      issued = await work(transaction);
      return 'sent';
    });
    return issued;
  }
}

/** A person's key, in the session of now. */
function own({ id: accountId, credentialVersion }: Account, id: bigint): KeyCommand {
  return { id, accountId, credentialVersion };
}

/** The scopes of the account. A key can't use any others. */
function offeredTo(account: Account): readonly Scope[] {
  return sharedScopes({ account }) ?? SCOPES;
}

/** The ids of keys begin at 1. */
function keyId(text: string): bigint | undefined {
  const id = int64From(text);
  return id === undefined || id < 1n ? undefined : id;
}

/** @throws InvalidInput */
function lifeFrom(text: string): number | undefined {
  const days = wholeNumber(text, 1, LONGEST_LIFE);
  if (days === undefined && text.trim() !== '')
    throw invalid('expiresIn', `must be 1 to ${LONGEST_LIFE} days, or empty for no expiry`);
  return days;
}

/** The key was found before, but its state doesn't allow the change: another tab or person was faster. */
function isNotFound(error: unknown): boolean {
  return error instanceof DomainError && error.kind === 'not_found';
}
