import {
  type Account,
  type ApiKey,
  type Clock,
  DisableKey,
  DomainError,
  hasEnded,
  HOUR,
  invalid,
  RenameKey,
  RevokeKey,
  RotateKey,
  ShowKey,
} from '@adoption-store/domain';
import { deprecatedUses } from '@adoption-store/web';
import { Body, Controller, Get, Inject, Post } from '@nestjs/common';
import { CLOCK } from '../http/clock.js';
import { SignedIn } from '../http/decorators.js';
import { formOf, wholeNumber } from '../http/forms.js';
import { Id } from '../http/lists.js';
import type { Notice } from '../http/notices.js';
import { type Answer, page, redirect } from '../http/pages.js';
import { FormOnce } from './form-once.js';

const LONGEST_OVERLAP = 720;

class RenameForm extends formOf({ name: 'Name (optional)' }) {}
class RotateForm extends formOf({ overlap: 'Hours that both keys work' }) {}

/** One of a person's keys. Every use case gets the account that must own it. */
@Controller('keys/:id')
export class KeyController {
  constructor(
    private readonly formOnce: FormOnce,
    private readonly shownKey: ShowKey,
    private readonly renameKey: RenameKey,
    private readonly disableKey: DisableKey,
    private readonly rotateKey: RotateKey,
    private readonly revokeKey: RevokeKey,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  @Get()
  async show(@SignedIn() account: Account, @Id() id: bigint): Promise<Answer> {
    return this.showKey(account, id);
  }

  @Post('name')
  async rename(@SignedIn() account: Account, @Id() id: bigint, @Body() form: RenameForm): Promise<Answer> {
    try {
      await this.renameKey.execute({ id, accountId: account.id, name: form.values.name.trim() || undefined });
    } catch (error) {
      return this.showKey(account, id, form.refused(error));
    }
    return redirect(`/keys/${id}`, 'key-renamed');
  }

  @Post('disable')
  async disable(@SignedIn() account: Account, @Id() id: bigint): Promise<Answer> {
    return this.setDisabled(account, id, true);
  }

  @Post('enable')
  async enable(@SignedIn() account: Account, @Id() id: bigint): Promise<Answer> {
    return this.setDisabled(account, id, false);
  }

  @Get('rotate')
  async showRotation(@SignedIn() account: Account, @Id() id: bigint): Promise<Answer> {
    return page('rotate-key', { form: new RotateForm({ overlap: '24' }), key: await this.find(account, id) });
  }

  @Post('rotate')
  async rotate(@SignedIn() account: Account, @Id() id: bigint, @Body() form: RotateForm): Promise<Answer> {
    const key = await this.find(account, id);
    try {
      const hours = wholeNumber(form.values.overlap, 0, LONGEST_OVERLAP);
      if (hours === undefined) throw invalid('overlap', `must be 0 to ${LONGEST_OVERLAP} hours`);
      if (!(await this.formOnce.isFirst(form, account))) return redirect('/keys', 'form-sent-before');
      const { id: accountId, credentialVersion } = account;
      const issued = await this.rotateKey.execute({ id: key.id, accountId, credentialVersion, overlap: hours * HOUR });
      return page('new-key', { ...issued, replaced: await this.find(account, id) });
    } catch (error) {
      if (isNotFound(error)) return redirect(`/keys/${id}`, 'key-not-changed');
      return page('rotate-key', { key, form: form.refused(error) });
    }
  }

  @Get('revoke')
  async showRevocation(@SignedIn() account: Account, @Id() id: bigint): Promise<Answer> {
    return page('revoke-key', { key: await this.find(account, id) });
  }

  @Post('revoke')
  async revoke(@SignedIn() account: Account, @Id() id: bigint): Promise<Answer> {
    const key = await this.find(account, id);
    await this.revokeKey.execute({ id: key.id, accountId: account.id });
    return redirect('/keys', 'key-revoked');
  }

  private async showKey({ id: accountId }: Account, id: bigint, form?: RenameForm): Promise<Answer> {
    const shown = await this.shownKey.execute({ id, accountId });
    const now = this.clock.now();
    const deprecated = hasEnded(shown.key, now) ? [] : deprecatedUses(shown.operations, now);
    return page('key', { form: form ?? new RenameForm({ name: shown.key.name }), ...shown, deprecated });
  }

  private async setDisabled(account: Account, id: bigint, isDisabled: boolean): Promise<Answer> {
    const key = await this.find(account, id);
    let notice: Notice = isDisabled ? 'key-disabled' : 'key-enabled';
    try {
      await this.disableKey.execute({ id: key.id, accountId: account.id, isDisabled });
    } catch (error) {
      if (!isNotFound(error)) throw error;
      notice = 'key-not-changed';
    }
    return redirect(`/keys/${id}`, notice);
  }

  private async find({ id: accountId }: Account, id: bigint): Promise<ApiKey> {
    return (await this.shownKey.execute({ id, accountId })).key;
  }
}

/** The key was found before, but its state doesn't allow the change: another tab or person was faster. */
function isNotFound(error: unknown): boolean {
  return error instanceof DomainError && error.kind === 'not_found';
}
