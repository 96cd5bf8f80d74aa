import { RequestPasswordReset, ResetPassword } from '@adoption-store/domain';
import { Body, Controller, Get, NotFoundException, Post, Req, Res, UseGuards } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { EMPTY_FORM, fields, problemsOf } from '../http/forms.js';
import { FormThrottlerGuard } from '../http/form-throttler.guard.js';
import { redirect } from '../http/notices.js';
import { Pages, REFUSED } from '../http/pages.js';
import { Public } from '../http/signed-in.guard.js';
import type { Problems } from '../views.js';

const SPENT = 'This link is unknown, too old or was used before. Ask for another one.';

/** A password that was forgotten, where mail can be sent. */
@Public()
@Controller()
export class ResetController {
  constructor(
    private readonly pages: Pages,
    private readonly requestPasswordReset: RequestPasswordReset,
    private readonly resetPassword: ResetPassword,
  ) {}

  @Get('forgotten-password')
  async showForgotten(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    this.checkAvailable();
    await this.pages.show(request, reply, 'forgotten-password', { ...EMPTY_FORM, isSent: false });
  }

  @Post('forgotten-password')
  @UseGuards(FormThrottlerGuard)
  async takeForgotten(
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @Body() body: unknown,
  ): Promise<void> {
    this.checkAvailable();
    const { email } = fields(body, 'email');
    await this.requestPasswordReset.execute({ email });
    await this.pages.show(request, reply, 'forgotten-password', { values: { email }, problems: {}, isSent: true });
  }

  @Get('reset-password')
  async showReset(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    this.checkAvailable();
    await this.pages.show(request, reply, 'reset-password', EMPTY_FORM);
  }

  @Post('reset-password')
  @UseGuards(FormThrottlerGuard)
  async takeReset(@Req() request: FastifyRequest, @Res() reply: FastifyReply, @Body() body: unknown): Promise<void> {
    this.checkAvailable();
    const { token, password } = fields(body, 'token', 'password');
    const problems = await this.reset(token.trim(), password);
    if (problems === undefined) redirect(reply, '/sign-in', 'password-reset');
    else await this.pages.show(request, reply, 'reset-password', { values: { token }, problems }, REFUSED);
  }

  private async reset(token: string, password: string): Promise<Problems | undefined> {
    try {
      return (await this.resetPassword.execute({ token, password })) === undefined ? { token: SPENT } : undefined;
    } catch (error) {
      return problemsOf(error, { password: 'password' });
    }
  }

  private checkAvailable(): void {
    if (!this.requestPasswordReset.isAvailable) throw new NotFoundException();
  }
}
