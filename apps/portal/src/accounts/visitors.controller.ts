import {
  type Account,
  ChangeAddress,
  isWrongPassword,
  readTypedAddress,
  RequestPasswordReset,
  ResetPassword,
  SendsMail,
} from '@adoption-store/domain';
import { Body, Controller, Get, NotFoundException, Post } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Attempts } from '../http/attempts.js';
import { BackgroundTasks } from '../http/background-tasks.js';
import { CountsAs, Public, Reply, SignedIn } from '../http/decorators.js';
import { Devices } from '../http/devices.js';
import { formOf, NO_ADDRESS } from '../http/forms.js';
import { type Answer, page, redirect } from '../http/pages.js';
import { logSecurity } from '../http/logs.js';
import { wantPage } from '../http/paths.js';
import { isTaken, spent, TOKEN } from './links.js';

class ForgottenForm extends formOf({ email: 'E-mail address' }) {}
class ResetForm extends formOf({ token: TOKEN, password: 'New password' }) {}
class ChangeForm extends formOf({ token: TOKEN, password: 'Password of the account' }) {}

// Shown only to somebody who reads the mails to that address.
const TAKEN = 'The new address has an account of its own. Sign in to that one, or choose another address.';

/** Forms that need no session. Opening a mailed link changes nothing, because programs that scan mail open links too. */
@Public()
@Controller()
export class VisitorsController {
  constructor(
    private readonly devices: Devices,
    private readonly attempts: Attempts,
    private readonly tasks: BackgroundTasks,
    private readonly sendsMail: SendsMail,
    private readonly requestPasswordReset: RequestPasswordReset,
    private readonly resetPassword: ResetPassword,
    private readonly changeAddress: ChangeAddress,
  ) {}

  @Get('forgotten-password')
  async showForgotten(): Promise<Answer> {
    const canReset = await this.sendsMail.execute();
    return page('forgotten-password', { form: new ForgottenForm(), canReset, isSent: false });
  }

  @Post('forgotten-password')
  @CountsAs('reset')
  async takeForgotten(@Body() form: ForgottenForm): Promise<Answer> {
    await this.checkAvailable();
    if (readTypedAddress(form.values.email) === undefined) {
      const refused = form.withProblems({ email: NO_ADDRESS });
      return page('forgotten-password', { form: refused, canReset: true, isSent: false });
    }
    // The task takes longer if there is an account, so the response doesn't wait for it.
    this.tasks.add('a password reset', () => this.requestPasswordReset.execute(form.values));
    return page('forgotten-password', { form, canReset: true, isSent: true });
  }

  @Get('reset-password')
  async showReset(): Promise<Answer> {
    await this.checkAvailable();
    return page('reset-password', { form: new ResetForm() });
  }

  @Post('reset-password')
  async takeReset(
    @Reply() reply: FastifyReply,
    @SignedIn() signedIn: Account | undefined,
    @Body() form: ResetForm,
  ): Promise<Answer> {
    await this.checkAvailable();
    const { token, password } = form.values;
    let account: Account | undefined;
    try {
      account = await this.resetPassword.execute({ token: token.trim(), password });
    } catch (error) {
      return page('reset-password', { form: form.refused(error) });
    }
    if (account === undefined) return page('reset-password', { form: spent(form, '/forgotten-password', signedIn) });
    await this.attempts.clear(account);
    this.devices.remember(reply, account);
    logSecurity(reply.request, 'password_reset', account);
    // A stranger who knew the former password may have made keys and webhooks.
    wantPage(reply, '/access');
    return redirect('/sign-in', 'password-reset');
  }

  @Get('confirm-new-address')
  showChange(): Answer {
    return page('confirm-new-address', { form: new ChangeForm() });
  }

  @Post('confirm-new-address')
  @CountsAs('link')
  async change(
    @Reply() { request }: FastifyReply,
    @SignedIn() account: Account | undefined,
    @Body() form: ChangeForm,
  ): Promise<Answer> {
    const { token, password } = form.values;
    const person = account && { accountId: account.id, credentialVersion: account.credentialVersion };
    try {
      const changed = await this.changeAddress.execute({ token: token.trim(), person, password });
      await this.attempts.forgive(request);
      if (changed === undefined) return page('confirm-new-address', { form: spent(form, '/account', account) });
      logSecurity(request, 'address_changed', changed);
    } catch (error) {
      if (isWrongPassword(error)) logSecurity(request, 'wrong_password', await this.attempts.accountNamed(request));
      else await this.attempts.forgive(request);
      const refused = isTaken(error) ? form.withProblems({ token: TAKEN }) : form.refused(error);
      return page('confirm-new-address', { form: refused });
    }
    return redirect(account === undefined ? '/sign-in' : '/account', 'address-changed');
  }

  private async checkAvailable(): Promise<void> {
    if (!(await this.sendsMail.execute())) throw new NotFoundException();
  }
}
