import { type Account, EndAllSessions, FindAccount, readTypedAddress, SignIn } from '@adoption-store/domain';
import { Body, Controller, Get, Post, Req } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { formOf, NO_ADDRESS } from '../http/forms.js';
import { Attempts } from '../http/attempts.js';
import { CountsAs, Public, Reply, SignedIn } from '../http/decorators.js';
import { type Answer, page, redirect } from '../http/pages.js';
import { logSecurity } from '../http/logs.js';
import { Sessions } from '../http/sessions.js';
import { takeWantedPage } from '../http/paths.js';

export class SignInForm extends formOf({ email: 'E-mail address', password: 'Password' }) {}

// The same message is shown if there is no account.
const WRONG = 'The e-mail address or the password is wrong.';

@Controller()
export class SignInController {
  constructor(
    private readonly sessions: Sessions,
    private readonly attempts: Attempts,
    private readonly signIn: SignIn,
    private readonly findAccount: FindAccount,
    private readonly endAllSessions: EndAllSessions,
  ) {}

  @Public()
  @Get('/')
  showHome(@SignedIn() account?: Account): Answer {
    return account === undefined ? page('home', {}) : redirect('/keys');
  }

  @Public()
  @Get('sign-in')
  show(@SignedIn() account?: Account): Answer {
    return account === undefined ? page('sign-in', { form: new SignInForm() }) : redirect('/keys');
  }

  @Public()
  @Post('sign-in')
  @CountsAs('sign-in')
  async begin(@Reply() reply: FastifyReply, @Body() form: SignInForm): Promise<Answer> {
    const account = await this.signIn.execute(form.values);
    if (account === undefined) {
      if (readTypedAddress(form.values.email) === undefined)
        return page('sign-in', { form: form.withProblems({ email: NO_ADDRESS }) });
      logSecurity(reply.request, 'wrong_password', await this.findAccount.execute(form.values.email));
      return page('sign-in', { form: form.withProblems({ form: WRONG }) });
    }
    await this.attempts.forgive(reply.request);
    await this.sessions.begin(reply, account);
    logSecurity(reply.request, 'signed_in', account);
    return redirect(takeWantedPage(reply));
  }

  /** For the script that warns of the end of the session. The request itself makes it last longer. */
  @Public()
  @Get('session')
  showSession(@Req() { person }: FastifyRequest): Answer {
    if (person === undefined) return (reply) => void reply.code(401);
    return () => ({ left: person.left, most: person.most });
  }

  // Never refused, because the session would stay open.
  @Public()
  @Post('sign-out')
  @CountsAs('uncounted')
  async end(@Reply() reply: FastifyReply): Promise<Answer> {
    const account = reply.request.person?.account;
    await this.sessions.end(reply);
    if (account !== undefined) logSecurity(reply.request, 'signed_out', account);
    return redirect('/', 'signed-out');
  }

  @Post('account/sign-out-everywhere')
  @CountsAs('uncounted')
  async endAll(@Reply() reply: FastifyReply, @SignedIn() account: Account): Promise<Answer> {
    await this.endAllSessions.execute({ accountId: account.id });
    await this.sessions.end(reply);
    logSecurity(reply.request, 'signed_out_everywhere', account);
    return redirect('/', 'signed-out-everywhere');
  }
}
