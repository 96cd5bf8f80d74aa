import {
  type Account,
  CompleteSignUp,
  readTypedAddress,
  RequestSignUp,
  GetSignUp,
  SignUp,
  type SignUpWay,
} from '@adoption-store/domain';
import { Body, Controller, Get, Post } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Attempts } from '../http/attempts.js';
import { Public, Reply, SignedIn } from '../http/decorators.js';
import { type Form, formOf, NO_ADDRESS } from '../http/forms.js';
import { type Answer, page, redirect } from '../http/pages.js';
import { logSecurity } from '../http/logs.js';
import { Sessions } from '../http/sessions.js';
import { isTaken, spent, TOKEN } from './links.js';

class SignUpForm extends formOf({ email: 'E-mail address', password: 'Password' }) {}
class FinishForm extends formOf({ token: TOKEN, password: 'Password' }) {}

// Shown only to somebody who reads the mails to that address.
const HAS_ACCOUNT = 'Its address has an account by now.';
const SIGNED_IN = 'You are signed in to another account. Sign out first: the link stays usable.';

/** How an account begins. Where mail can be sent nothing exists before the mailed link was followed. */
@Public()
@Controller()
export class SignUpController {
  constructor(
    private readonly sessions: Sessions,
    private readonly attempts: Attempts,
    private readonly getSignUp: GetSignUp,
    private readonly signUp: SignUp,
    private readonly requestSignUp: RequestSignUp,
    private readonly completeSignUp: CompleteSignUp,
  ) {}

  @Get('sign-up')
  async show(@SignedIn() account?: Account): Promise<Answer> {
    if (account !== undefined) return redirect('/keys');
    return signUpPage(await this.getSignUp.execute(), new SignUpForm());
  }

  @Post('sign-up')
  async take(@Reply() reply: FastifyReply, @Body() form: SignUpForm): Promise<Answer> {
    const way = await this.getSignUp.execute();
    if (way === 'command') return signUpPage(way, form);
    try {
      if (way === 'link') return await this.sendLink(reply, form);
      const account = await this.signUp.execute(form.values);
      await this.sessions.begin(reply, account);
      logSecurity(reply.request, 'signed_up', account);
    } catch (error) {
      const links = { email: { href: '/sign-in', text: 'Sign in?' } };
      return signUpPage(
        way,
        isTaken(error) ? form.withProblems({ email: 'Already registered.' }, links) : form.refused(error),
      );
    }
    return redirect('/keys', 'signed-up');
  }

  @Get('finish-sign-up')
  showFinish(): Answer {
    return page('finish-sign-up', { form: new FinishForm() });
  }

  @Post('finish-sign-up')
  async finish(
    @Reply() reply: FastifyReply,
    @SignedIn() signedIn: Account | undefined,
    @Body() form: FinishForm,
  ): Promise<Answer> {
    const { password } = form.values;
    const token = form.values.token.trim();
    if (signedIn !== undefined) {
      const isOpen = await this.completeSignUp.isOpen({ token });
      const refused = isOpen ? form.withProblems({ token: SIGNED_IN }) : spent(form, '/sign-up', signedIn);
      return page('finish-sign-up', { form: refused });
    }
    let account: Account | undefined;
    try {
      account = await this.completeSignUp.execute({ token, password });
    } catch (error) {
      const links = { token: { href: '/forgotten-password', text: 'Set a new password' } };
      const refused = isTaken(error) ? form.withProblems({ token: HAS_ACCOUNT }, links) : form.refused(error);
      return page('finish-sign-up', { form: refused });
    }
    if (account === undefined) return page('finish-sign-up', { form: spent(form, '/sign-up') });
    await this.attempts.clear(account);
    await this.sessions.begin(reply, account);
    logSecurity(reply.request, 'signed_up', account);
    return redirect('/keys', 'signed-up');
  }

  private async sendLink({ request }: FastifyReply, form: SignUpForm): Promise<Answer> {
    if (readTypedAddress(form.values.email) === undefined)
      return signUpPage('link', form.withProblems({ email: NO_ADDRESS }));
    await this.attempts.countSignUp(request);
    await this.requestSignUp.execute(form.values);
    return page('sign-up', { form, way: 'link', isSent: true });
  }
}

function signUpPage(way: SignUpWay, form: Form): Answer {
  return page('sign-up', { form, way, isSent: false }, way === 'command' ? 503 : undefined);
}
