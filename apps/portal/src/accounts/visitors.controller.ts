import {
  type Account,
  ChangeAddress,
  DomainError,
  ProveAddress,
  readTypedAddress,
  RequestPasswordReset,
  ResetPassword,
  SignUp,
} from '@adoption-store/domain';
import { Body, Controller, Get, NotFoundException, Post } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Attempts } from '../http/attempts.js';
import { BackgroundTasks } from '../http/background-tasks.js';
import { CountsAs, Public, Reply, SignedIn } from '../http/decorators.js';
import { Devices } from '../http/devices.js';
import { type Form, formOf, NO_ADDRESS } from '../http/forms.js';
import { type Answer, page, redirect } from '../http/pages.js';
import { logSecurity } from '../http/security-log.js';
import { Sessions } from '../http/sessions.js';

const TOKEN = 'Token from the e-mail';

class SignUpForm extends formOf({ email: 'E-mail address', password: 'Password' }) {}
class ForgottenForm extends formOf({ email: 'E-mail address' }) {}
class ResetForm extends formOf({ token: TOKEN, password: 'New password' }) {}
class TokenForm extends formOf({ token: TOKEN }) {}

// Shown only to somebody who reads the mails to that address.
const TAKEN = 'The new address has an account of its own. Sign in to that one, or choose another address.';

/** Forms that need no session. Opening a mailed link changes nothing, because programs that scan mail open links too. */
@Public()
@Controller()
export class VisitorsController {
  constructor(
    private readonly sessions: Sessions,
    private readonly devices: Devices,
    private readonly attempts: Attempts,
    private readonly tasks: BackgroundTasks,
    private readonly signUp: SignUp,
    private readonly requestPasswordReset: RequestPasswordReset,
    private readonly resetPassword: ResetPassword,
    private readonly proveAddress: ProveAddress,
    private readonly changeAddress: ChangeAddress,
  ) {}

  @Get('sign-up')
  showSignUp(@SignedIn() account?: Account): Answer {
    return account === undefined ? page('sign-up', { form: new SignUpForm() }) : redirect('/keys');
  }

  @Post('sign-up')
  async takeSignUp(@Reply() reply: FastifyReply, @Body() form: SignUpForm): Promise<Answer> {
    try {
      const account = await this.signUp.execute(form.values);
      await this.sessions.begin(reply, account);
      logSecurity(reply.request, 'signed_up', account);
    } catch (error) {
      const links = { email: { href: '/sign-in', text: 'Sign in?' } };
      const refused = isTaken(error) ? form.withProblems({ email: 'Already registered.' }, links) : form.refused(error);
      return page('sign-up', { form: refused });
    }
    return redirect('/keys', 'signed-up');
  }

  @Get('forgotten-password')
  showForgotten(): Answer {
    this.checkAvailable();
    return page('forgotten-password', { form: new ForgottenForm(), isSent: false });
  }

  @Post('forgotten-password')
  @CountsAs('reset')
  takeForgotten(@Body() form: ForgottenForm): Answer {
    this.checkAvailable();
    if (readTypedAddress(form.values.email) === undefined) {
      return page('forgotten-password', { form: form.withProblems({ email: NO_ADDRESS }), isSent: false });
    }
    // The task takes longer if there is an account, so the response doesn't wait for it.
    this.tasks.add('a password reset', () => this.requestPasswordReset.execute(form.values));
    return page('forgotten-password', { form, isSent: true });
  }

  @Get('reset-password')
  showReset(): Answer {
    this.checkAvailable();
    return page('reset-password', { form: new ResetForm() });
  }

  @Post('reset-password')
  async takeReset(@Reply() reply: FastifyReply, @Body() form: ResetForm): Promise<Answer> {
    this.checkAvailable();
    const { token, password } = form.values;
    let account: Account | undefined;
    try {
      account = await this.resetPassword.execute({ token: token.trim(), password });
    } catch (error) {
      return page('reset-password', { form: form.refused(error) });
    }
    if (account === undefined) return page('reset-password', { form: spent(form, '/forgotten-password') });
    await this.attempts.clear(account);
    this.devices.remember(reply, account);
    logSecurity(reply.request, 'password_reset', account);
    return redirect('/sign-in', 'password-reset');
  }

  @Get('confirm-address')
  showProof(): Answer {
    return page('confirm-address', { form: new TokenForm() });
  }

  @Post('confirm-address')
  async prove(@SignedIn() account: Account | undefined, @Body() form: TokenForm): Promise<Answer> {
    const proven = await this.proveAddress.execute({ token: form.values.token.trim() });
    if (proven === undefined) return page('confirm-address', { form: spent(form, '/account') });
    return redirect(account === undefined ? '/sign-in' : '/account', 'address-proven');
  }

  @Get('confirm-new-address')
  showChange(): Answer {
    return page('confirm-new-address', { form: new TokenForm() });
  }

  @Post('confirm-new-address')
  async change(
    @Reply() { request }: FastifyReply,
    @SignedIn() account: Account | undefined,
    @Body() form: TokenForm,
  ): Promise<Answer> {
    try {
      const changed = await this.changeAddress.execute({ token: form.values.token.trim() });
      if (changed === undefined) return page('confirm-new-address', { form: spent(form, '/account') });
      logSecurity(request, 'address_changed', changed);
    } catch (error) {
      if (!isTaken(error)) throw error;
      return page('confirm-new-address', { form: form.withProblems({ token: TAKEN }) });
    }
    return redirect(account === undefined ? '/sign-in' : '/account', 'address-changed');
  }

  private checkAvailable(): void {
    if (!this.requestPasswordReset.isAvailable) throw new NotFoundException();
  }
}

function isTaken(error: unknown): boolean {
  return error instanceof DomainError && error.code === 'email_taken';
}

/** @param href the page with the form for another link. */
function spent<Each extends Form>(form: Each, href: string): Each {
  const problems = { token: 'This link is unknown, too old or was used before.' };
  return form.withProblems(problems, { token: { href, text: 'Request another link' } });
}
