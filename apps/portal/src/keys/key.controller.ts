import {
  type Account,
  type ApiKey,
  type Clock,
  DisableKey,
  DomainError,
  hasEnded,
  HOUR,
  RenameKey,
  RevokeKey,
  RotateKey,
  ShowKey,
} from '@adoption-store/domain';
import { deprecatedUses } from '@adoption-store/web';
import { Body, Controller, Get, Inject, Param, Post, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { CLOCK } from '../http/clock.js';
import { EMPTY_FORM, fields, problemsOf, wholeNumber } from '../http/forms.js';
import { idFrom } from '../http/lists.js';
import { type Notice, redirect } from '../http/notices.js';
import { Pages, REFUSED } from '../http/pages.js';
import { SignedIn } from '../http/signed-in.guard.js';
import type { Form } from '../views.js';
import { FormOnce } from './form-once.js';

const LONGEST_OVERLAP = 720;

/** One of a person's keys. Every use case gets the account that must own it. */
@Controller('keys/:id')
export class KeyController {
  constructor(
    private readonly pages: Pages,
    private readonly formOnce: FormOnce,
    private readonly shownKey: ShowKey,
    private readonly renameKey: RenameKey,
    private readonly disableKey: DisableKey,
    private readonly rotateKey: RotateKey,
    private readonly revokeKey: RevokeKey,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  @Get()
  async show(@Res() reply: FastifyReply, @SignedIn() account: Account, @Param('id') id: string): Promise<void> {
    await this.showKey(reply, account, idFrom(id), EMPTY_FORM);
  }

  @Post('name')
  async rename(
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
      await this.showKey(reply, account, id, { values, problems });
      return;
    }
    redirect(reply, `/keys/${id}`, 'key-renamed');
  }

  @Post('disable')
  async disable(@Res() reply: FastifyReply, @SignedIn() account: Account, @Param('id') text: string): Promise<void> {
    await this.setDisabled(reply, account, text, true);
  }

  @Post('enable')
  async enable(@Res() reply: FastifyReply, @SignedIn() account: Account, @Param('id') text: string): Promise<void> {
    await this.setDisabled(reply, account, text, false);
  }

  @Get('rotate')
  async showRotation(@Res() reply: FastifyReply, @SignedIn() account: Account, @Param('id') id: string): Promise<void> {
    await this.pages.show(reply, 'rotate-key', { ...EMPTY_FORM, key: await this.find(account, id) });
  }

  @Post('rotate')
  async rotate(
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
      await this.pages.show(reply, 'rotate-key', { key, values, problems }, REFUSED);
      return;
    }
    if (!(await this.formOnce.isFirst(reply, account))) return;
    try {
      const issued = await this.rotateKey.execute({
        id: key.id,
        accountId: account.id,
        credentialVersion: account.credentialVersion,
        overlap: hours * HOUR,
      });
      await this.pages.show(reply, 'new-key', { ...issued, replaced: await this.find(account, id) });
    } catch (error) {
      if (isNotFound(error)) {
        redirect(reply, `/keys/${key.id}`, 'key-not-changed');
        return;
      }
      const problems = problemsOf(error, { overlap: 'overlap' });
      await this.pages.show(reply, 'rotate-key', { key, values, problems }, REFUSED);
    }
  }

  @Get('revoke')
  async showRevocation(
    @Res() reply: FastifyReply,
    @SignedIn() account: Account,
    @Param('id') id: string,
  ): Promise<void> {
    await this.pages.show(reply, 'revoke-key', { key: await this.find(account, id) });
  }

  @Post('revoke')
  async revoke(@Res() reply: FastifyReply, @SignedIn() account: Account, @Param('id') id: string): Promise<void> {
    const { id: keyId } = await this.find(account, id);
    await this.revokeKey.execute({ id: keyId, accountId: account.id });
    redirect(reply, '/keys', 'key-revoked');
  }

  private async showKey(reply: FastifyReply, { id: accountId }: Account, id: bigint, form: Form): Promise<void> {
    const shown = await this.shownKey.execute({ id, accountId });
    const status = form === EMPTY_FORM ? 200 : REFUSED;
    const now = this.clock.now();
    const deprecated = hasEnded(shown.key, now) ? [] : deprecatedUses(shown.operations, now);
    await this.pages.show(reply, 'key', { ...form, ...shown, deprecated, now }, status);
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
    return (await this.shownKey.execute({ id: idFrom(text), accountId })).key;
  }
}

/** The key was found before, but its state doesn't allow the change: another tab or person was faster. */
function isNotFound(error: unknown): boolean {
  return error instanceof DomainError && error.kind === 'not_found';
}
