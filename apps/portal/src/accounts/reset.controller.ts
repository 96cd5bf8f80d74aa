import { type Account, isEmailAddress, RequestPasswordReset, ResetPassword } from '@adoption-store/domain';
import { Body, Controller, Get, NotFoundException, Post, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { AfterAnswer } from '../http/after-answer.js';
import { Devices } from '../http/devices.js';
import { EMPTY_FORM, fields, NO_ADDRESS, problemsOf } from '../http/forms.js';
import { CountsAs, FormThrottlerGuard } from '../http/form-throttler.guard.js';
import { type Answer, page, redirect } from '../http/pages.js';
import { Public } from '../http/signed-in.guard.js';

const SPENT = {
  problems: { token: 'This link is unknown, too old or was used before.' },
  links: { token: { href: '/forgotten-password', text: 'Request another link' } },
};

/** Resets a forgotten password by mail. */
@Public()
@Controller()
export class ResetController {
  constructor(
    private readonly devices: Devices,
    private readonly throttler: FormThrottlerGuard,
    private readonly afterAnswer: AfterAnswer,
    private readonly requestPasswordReset: RequestPasswordReset,
    private readonly resetPassword: ResetPassword,
  ) {}

  @Get('forgotten-password')
  showForgotten(): Answer {
    this.checkAvailable();
    return page('forgotten-password', { ...EMPTY_FORM, isSent: false });
  }

  @Post('forgotten-password')
  @CountsAs('reset')
  takeForgotten(@Body() body: unknown): Answer {
    this.checkAvailable();
    const values = fields(body, 'email');
    if (!isEmailAddress(values.email)) {
      return page('forgotten-password', { values, problems: { email: NO_ADDRESS }, isSent: false });
    }
    // The work takes longer if there is an account, so the response doesn't wait for it.
    this.afterAnswer.take('a password reset', () => this.requestPasswordReset.execute(values));
    return page('forgotten-password', { values, problems: {}, isSent: true });
  }

  @Get('reset-password')
  showReset(): Answer {
    this.checkAvailable();
    return page('reset-password', EMPTY_FORM);
  }

  @Post('reset-password')
  async takeReset(@Res({ passthrough: true }) reply: FastifyReply, @Body() body: unknown): Promise<Answer> {
    this.checkAvailable();
    const { token, password } = fields(body, 'token', 'password');
    let account: Account | undefined;
    try {
      account = await this.resetPassword.execute({ token: token.trim(), password });
    } catch (error) {
      return page('reset-password', { values: { token }, problems: problemsOf(error, 'password') });
    }
    if (account === undefined) return page('reset-password', { values: { token }, ...SPENT });
    await this.throttler.clear(account);
    this.devices.remember(reply, account);
    return redirect('/sign-in', 'password-reset');
  }

  private checkAvailable(): void {
    if (!this.requestPasswordReset.isAvailable) throw new NotFoundException();
  }
}
