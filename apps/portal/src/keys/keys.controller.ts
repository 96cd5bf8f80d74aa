import {
  type Account,
  AnswerOnce,
  type ApiKey,
  type ApiKeyId,
  type Clock,
  DAY,
  GetKey,
  HOUR,
  instant,
  INT64_MAX,
  IssueKey,
  later,
  type PastKeyPlace,
  RevokeKey,
  RotateKey,
  type Scope,
  SCOPES,
  sharedScopes,
  ShowKeys,
} from '@adoption-store/domain';
import { Body, Controller, Get, Inject, NotFoundException, Param, Post, Query, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CLOCK } from '../http/clock.js';
import { formToken } from '../http/csrf.js';
import { checkedScopes, EMPTY_FORM, fields, problemsOf, wholeNumber } from '../http/forms.js';
import { redirect } from '../http/notices.js';
import { Pages, REFUSED } from '../http/pages.js';
import { SignedIn } from '../http/signed-in.guard.js';
import type { Form } from '../views.js';

const LONGEST_LIFE = 3_650;
const LONGEST_OVERLAP = 720;

/** The form for a new key, and the page of past keys below it. */
interface ShownForm {
  readonly form: Form;
  readonly checked: readonly Scope[];
  readonly before?: PastKeyPlace | undefined;
}

/** A person's keys. Every use case gets the account that must own the key. */
@Controller('keys')
export class KeysController {
  constructor(
    private readonly pages: Pages,
    private readonly answerOnce: AnswerOnce,
    private readonly shownKeys: ShowKeys,
    private readonly getKey: GetKey,
    private readonly issueKey: IssueKey,
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
    const shown = { form: EMPTY_FORM, checked: offeredTo(account), before: placeFrom(fields(query, 'past').past) };
    await this.showKeys(request, reply, account, shown);
  }

  @Post()
  async issue(
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @SignedIn() account: Account,
    @Body() body: unknown,
  ): Promise<void> {
    const values = fields(body, 'name', 'expiresIn');
    const days = wholeNumber(values.expiresIn, 1, LONGEST_LIFE);
    const offered = offeredTo(account);
    const checked = checkedScopes(body).filter((scope) => offered.includes(scope));
    const isLifeWrong = days === undefined && values.expiresIn !== '';
    if (isLifeWrong || checked.length === 0) {
      const problems = {
        ...(isLifeWrong && {
          expiresIn: `Must be 1 to ${LONGEST_LIFE} days, or empty for a key that does not expire.`,
        }),
        ...(checked.length === 0 && { scopes: 'Choose at least one.' }),
      };
      await this.showKeys(request, reply, account, { form: { values, problems }, checked });
      return;
    }
    if (!(await this.isFirst(request, reply, account))) return;
    try {
      const issued = await this.issueKey.execute({
        accountId: account.id,
        credentialVersion: account.credentialVersion,
        name: values.name.trim() || undefined,
        // No list if every box is checked: the key has what its account has, also later.
        scopes: checked.length === offered.length ? undefined : checked,
        expiresAt: days === undefined ? undefined : later(this.clock.now(), days * DAY),
      });
      await this.pages.show(request, reply, 'new-key', issued);
    } catch (error) {
      const problems = problemsOf(error, { name: 'name', expiresAt: 'expiresIn' });
      await this.showKeys(request, reply, account, { form: { values, problems }, checked });
    }
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
    { form, checked, before }: ShownForm,
  ): Promise<void> {
    const { next, ...keys } = await this.shownKeys.execute({ accountId: account.id, before });
    const older = next && `/keys?past=${next.endedAt}-${next.id}`;
    const boxes = { offered: offeredTo(account), checked };
    const shown = { ...keys, ...boxes, older, isLater: before !== undefined, now: this.clock.now() };
    await this.pages.show(request, reply, 'keys', { ...form, ...shown }, form === EMPTY_FORM ? 200 : REFUSED);
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

  private async find({ id: accountId }: Account, text: string): Promise<ApiKey> {
    const id = idFrom(text);
    if (id === undefined) throw new NotFoundException();
    return this.getKey.execute({ id, accountId });
  }
}

/** Other scopes would be of no use: a key has none that its account lacks. */
function offeredTo(account: Account): readonly Scope[] {
  return sharedScopes({ account }) ?? SCOPES;
}

function idFrom(text: string): bigint | undefined {
  const id = /^[1-9]\d{0,18}$/.test(text) ? BigInt(text) : undefined;
  return id === undefined || id > INT64_MAX ? undefined : id;
}

/** An invalid address leads to the first page. */
function placeFrom(text: string): PastKeyPlace | undefined {
  const [, time = '', key = ''] = /^(\d{1,15})-(\d+)$/.exec(text) ?? [];
  const id = idFrom(key);
  return id === undefined || time === '' ? undefined : { endedAt: instant(Number(time)), id: id as ApiKeyId };
}
