import {
  type Account,
  ChangePassword,
  CloseAccount,
  isWrongPassword,
  RequestAddressChange,
  SendsMail,
} from '@adoption-store/domain';
import { Body, Controller, Get, Post } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Attempts } from '../http/attempts.js';
import { CountsAs, Reply, SignedIn } from '../http/decorators.js';
import { formOf } from '../http/forms.js';
import { type Answer, page, redirect } from '../http/pages.js';
import { logSecurity } from '../http/logs.js';
import { Sessions } from '../http/sessions.js';
import type { Views } from '../http/views.js';

class AddressForm extends formOf({ email: 'New e-mail address', password: 'Password' }, 'address-') {}
class PasswordForm extends formOf({ current: 'Current password', next: 'New password' }) {}
class ClosingForm extends formOf({ password: 'Password' }, 'close-') {}

const WRONG = 'Not your password.';

@Controller('account')
export class AccountController {
  constructor(
    private readonly sessions: Sessions,
    private readonly attempts: Attempts,
    private readonly requestAddressChange: RequestAddressChange,
    private readonly sendsMail: SendsMail,
    private readonly changePassword: ChangePassword,
    private readonly closeAccount: CloseAccount,
  ) {}

  @Get()
  async show(): Promise<Answer> {
    return this.page({});
  }

  @Post('address')
  @CountsAs('password')
  async changeAddress(
    @Reply() { request }: FastifyReply,
    @SignedIn() account: Account,
    @Body() form: AddressForm,
  ): Promise<Answer> {
    let isSent: boolean;
    try {
      isSent = await this.requestAddressChange.execute({ accountId: account.id, ...form.values });
    } catch (error) {
      await this.judge(request, account, error);
      return this.page({ address: form.refused(error) });
    }
    await this.attempts.forgive(request);
    logSecurity(request, 'address_change_requested', account);
    return redirect('/account', isSent ? 'address-change-sent' : 'address-change-not-sent');
  }

  @Post('password')
  @CountsAs('password')
  async change(
    @Reply() reply: FastifyReply,
    @SignedIn() account: Account,
    @Body() form: PasswordForm,
  ): Promise<Answer> {
    let changed: Account | undefined;
    try {
      changed = await this.changePassword.execute({ accountId: account.id, ...form.values });
    } catch (error) {
      await this.judge(reply.request, account, error);
      return this.page({ password: form.refused(error) });
    }
    if (changed === undefined) return this.page({ password: form.withProblems({ current: WRONG }) });
    await this.attempts.forgive(reply.request);
    await this.sessions.renew(reply, changed);
    logSecurity(reply.request, 'password_changed', account);
    return redirect('/account', 'password-changed');
  }

  @Post('close')
  @CountsAs('password')
  async close(@Reply() reply: FastifyReply, @SignedIn() account: Account, @Body() form: ClosingForm): Promise<Answer> {
    const isClosed = await this.closeAccount.execute({ accountId: account.id, ...form.values });
    logSecurity(reply.request, isClosed ? 'account_closed' : 'wrong_password', account);
    if (!isClosed) return this.page({ close: form.withProblems({ password: WRONG }) });
    await this.sessions.end(reply);
    return redirect('/', 'account-closed');
  }

  private async page(shown: Partial<Views['account']>): Promise<Answer> {
    return page('account', {
      address: new AddressForm(),
      password: new PasswordForm(),
      close: new ClosingForm(),
      canReset: await this.sendsMail.execute(),
      ...shown,
    });
  }

  /** A form may be refused although its password is right, and only wrong passwords count. */
  private async judge(request: FastifyRequest, account: Account, error: unknown): Promise<void> {
    if (isWrongPassword(error)) logSecurity(request, 'wrong_password', account);
    else await this.attempts.forgive(request);
  }
}
