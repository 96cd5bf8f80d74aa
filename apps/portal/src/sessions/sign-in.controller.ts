import { type Account, EndAllSessions, readTypedAddress, SignIn } from '@adoption-store/domain';
import { Body, Controller, Get, Post, Req } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Attempts } from '../http/attempts.js';
import { CountsAs, Public, Reply, SignedIn } from '../http/decorators.js';
import { NO_ADDRESS } from '../http/forms.js';
import { type Answer, page, redirect } from '../http/pages.js';
import { Sessions } from '../http/sessions.js';
import { SignInForm } from './sign-in.form.js';
import { takeWantedPage } from '../http/wanted-page.js';

// The same message is shown if there is no account.
const WRONG = 'The e-mail address or the password is wrong.';

/** Signing in and out. */
@Controller()
export class SignInController {
  constructor(
    private readonly sessions: Sessions,
    private readonly attempts: Attempts,
    private readonly signIn: SignIn,
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
      const isAddress = readTypedAddress(form.values.email) !== undefined;
      const problems = isAddress ? { form: WRONG } : { email: NO_ADDRESS };
      return page('sign-in', { form: form.withProblems(problems) });
    }
    await this.attempts.forgive(reply.request);
    await this.sessions.begin(reply, account);
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
    await this.sessions.end(reply);
    return redirect('/', 'signed-out');
  }

  @Post('account/sign-out-everywhere')
  @CountsAs('uncounted')
  async endAll(@Reply() reply: FastifyReply, @SignedIn() { id: accountId }: Account): Promise<Answer> {
    await this.endAllSessions.execute({ accountId });
    await this.sessions.end(reply);
    return redirect('/', 'signed-out-everywhere');
  }
}
