import { DomainError, isEmailAddress, SignIn, SignUp } from '@adoption-store/domain';
import { Body, Controller, Get, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Devices } from '../http/devices.js';
import { EMPTY_FORM, fields, NO_ADDRESS, problemsOf } from '../http/forms.js';
import { CountsAs, FormThrottlerGuard } from '../http/form-throttler.guard.js';
import { type Answer, page, redirect } from '../http/pages.js';
import { Sessions } from '../http/sessions.js';
import { Public, takeWantedPage } from '../http/signed-in.guard.js';
import type { Problems } from '../http/views.js';

// The same message is shown if there is no account.
const WRONG = 'The e-mail address or the password is wrong.';

const TAKEN = {
  problems: { email: 'Already registered.' },
  links: { email: { href: '/sign-in', text: 'Sign in?' } },
};

/** Signing in and out. */
@Public()
@Controller()
export class SignInController {
  constructor(
    private readonly sessions: Sessions,
    private readonly devices: Devices,
    private readonly throttler: FormThrottlerGuard,
    private readonly signUp: SignUp,
    private readonly signIn: SignIn,
  ) {}

  @Get('sign-up')
  showSignUp(@Req() { account }: FastifyRequest): Answer {
    return account === undefined ? page('sign-up', EMPTY_FORM) : redirect('/keys');
  }

  @Post('sign-up')
  async takeSignUp(@Res({ passthrough: true }) reply: FastifyReply, @Body() body: unknown): Promise<Answer> {
    const { email, password } = fields(body, 'email', 'password');
    try {
      const account = await this.signUp.execute({ email, password });
      await this.sessions.begin(reply, account);
      this.devices.remember(reply, account);
    } catch (error) {
      const isTaken = error instanceof DomainError && error.code === 'email_taken';
      const form = isTaken ? TAKEN : { problems: problemsOf(error, 'email', 'password') };
      return page('sign-up', { values: { email }, ...form });
    }
    return redirect('/keys', 'signed-up');
  }

  @Get('sign-in')
  showSignIn(@Req() { account }: FastifyRequest): Answer {
    return account === undefined ? page('sign-in', EMPTY_FORM) : redirect('/keys');
  }

  @Post('sign-in')
  @CountsAs('sign-in')
  async takeSignIn(@Res({ passthrough: true }) reply: FastifyReply, @Body() body: unknown): Promise<Answer> {
    const { email, password } = fields(body, 'email', 'password');
    const account = await this.signIn.execute({ email, password });
    if (account === undefined) {
      const problems: Problems = isEmailAddress(email) ? { form: WRONG } : { email: NO_ADDRESS };
      return page('sign-in', { values: { email }, problems });
    }
    await this.throttler.forgive(reply.request);
    await this.sessions.begin(reply, account);
    this.devices.remember(reply, account);
    return redirect(takeWantedPage(reply));
  }

  /** For the script that warns of the end of the session: the request itself makes it last longer. */
  @Get('session')
  showSession(@Req() { sessionTimes }: FastifyRequest): Answer {
    if (sessionTimes === undefined) return (reply) => reply.code(401).send();
    return (reply) => reply.send({ left: sessionTimes.left, most: sessionTimes.most });
  }

  // A refused sign-out would leave the session open.
  @Post('sign-out')
  @CountsAs('uncounted')
  async signOut(@Res({ passthrough: true }) reply: FastifyReply): Promise<Answer> {
    await this.sessions.end(reply);
    return redirect('/', 'signed-out');
  }
}
