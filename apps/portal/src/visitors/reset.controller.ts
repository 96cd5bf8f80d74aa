import { type Account, isEmailAddress, RequestPasswordReset, ResetPassword } from '@adoption-store/domain';
import { Body, Controller, Get, NotFoundException, Post, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { AfterAnswer } from '../http/after-answer.js';
import { Devices } from '../http/devices.js';
import { EMPTY_FORM, fields, NO_ADDRESS, problemsOf } from '../http/forms.js';
import { CountsAs, FormThrottlerGuard } from '../http/form-throttler.guard.js';
import { redirect } from '../http/notices.js';
import { Pages, REFUSED } from '../http/pages.js';
import { Public } from '../http/signed-in.guard.js';
import type { Form } from '../views.js';

const SPENT = {
  problems: { token: 'This link is unknown, too old or was used before.' },
  links: { token: { href: '/forgotten-password', text: 'Request another link' } },
};

/** Resets a forgotten password by mail. */
@Public()
@Controller()
export class ResetController {
  constructor(
    private readonly pages: Pages,
    private readonly devices: Devices,
    private readonly throttler: FormThrottlerGuard,
    private readonly afterAnswer: AfterAnswer,
    private readonly requestPasswordReset: RequestPasswordReset,
    private readonly resetPassword: ResetPassword,
  ) {}

  @Get('forgotten-password')
  async showForgotten(@Res() reply: FastifyReply): Promise<void> {
    this.checkAvailable();
    await this.pages.show(reply, 'forgotten-password', { ...EMPTY_FORM, isSent: false });
  }

  @Post('forgotten-password')
  @CountsAs('reset')
  async takeForgotten(@Res() reply: FastifyReply, @Body() body: unknown): Promise<void> {
    this.checkAvailable();
    const { email } = fields(body, 'email');
    if (!isEmailAddress(email)) {
      const form = { values: { email }, problems: { email: NO_ADDRESS }, isSent: false };
      await this.pages.show(reply, 'forgotten-password', form, REFUSED);
      return;
    }
    // The work takes longer if there is an account, so the response doesn't wait for it.
    this.afterAnswer.take('a password reset', () => this.requestPasswordReset.execute({ email }));
    await this.pages.show(reply, 'forgotten-password', { values: { email }, problems: {}, isSent: true });
  }

  @Get('reset-password')
  async showReset(@Res() reply: FastifyReply): Promise<void> {
    this.checkAvailable();
    await this.pages.show(reply, 'reset-password', EMPTY_FORM);
  }

  @Post('reset-password')
  async takeReset(@Res() reply: FastifyReply, @Body() body: unknown): Promise<void> {
    this.checkAvailable();
    const { token, password } = fields(body, 'token', 'password');
    let account: Account | undefined;
    let form: Pick<Form, 'problems' | 'links'> = SPENT;
    try {
      account = await this.resetPassword.execute({ token: token.trim(), password });
    } catch (error) {
      form = { problems: problemsOf(error, { password: 'password' }) };
    }
    if (account === undefined) {
      await this.pages.show(reply, 'reset-password', { values: { token }, ...form }, REFUSED);
      return;
    }
    await this.throttler.clear(account);
    this.devices.remember(reply, account);
    redirect(reply, '/sign-in', 'password-reset');
  }

  private checkAvailable(): void {
    if (!this.requestPasswordReset.isAvailable) throw new NotFoundException();
  }
}
