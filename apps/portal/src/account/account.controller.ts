import { type Account, ChangePassword, CloseAccount } from '@adoption-store/domain';
import { Body, Controller, Get, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Devices } from '../http/devices.js';
import { EMPTY_FORM, fields, problemsOf } from '../http/forms.js';
import { CountsAs, FormThrottlerGuard } from '../http/form-throttler.guard.js';
import { redirect } from '../http/notices.js';
import { Pages, REFUSED } from '../http/pages.js';
import { Sessions } from '../http/sessions.js';
import { SignedIn } from '../http/signed-in.guard.js';
import type { Problems, Views } from '../views.js';

const WRONG = 'This is not your password.';

/** The pages about the account itself. */
@Controller('account')
export class AccountController {
  constructor(
    private readonly pages: Pages,
    private readonly sessions: Sessions,
    private readonly devices: Devices,
    private readonly throttler: FormThrottlerGuard,
    private readonly changePassword: ChangePassword,
    private readonly closeAccount: CloseAccount,
  ) {}

  @Get()
  async show(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    await this.pages.show(request, reply, 'account', { password: EMPTY_FORM, close: EMPTY_FORM });
  }

  @Post('password')
  @CountsAs('password')
  async change(
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @SignedIn() { id: accountId }: Account,
    @Body() body: unknown,
  ): Promise<void> {
    const { current, next } = fields(body, 'current', 'next');
    let changed: Account | undefined;
    try {
      changed = await this.changePassword.execute({ accountId, current, next });
    } catch (error) {
      await this.refuse(request, reply, 'password', problemsOf(error, { password: 'next' }));
      return;
    }
    if (changed === undefined) {
      await this.refuse(request, reply, 'password', { current: WRONG });
      return;
    }
    await this.throttler.forgive(request);
    await this.sessions.renew(request, reply, changed);
    this.devices.remember(request, reply, changed);
    redirect(reply, '/account', 'password-changed');
  }

  @Post('close')
  @CountsAs('password')
  async close(
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @SignedIn() { id: accountId }: Account,
    @Body() body: unknown,
  ): Promise<void> {
    const { password } = fields(body, 'password');
    if (!(await this.closeAccount.execute({ accountId, password }))) {
      await this.refuse(request, reply, 'close', { password: WRONG });
      return;
    }
    await this.sessions.end(request, reply);
    redirect(reply, '/', 'account-closed');
  }

  private async refuse(
    request: FastifyRequest,
    reply: FastifyReply,
    form: keyof Views['account'],
    problems: Problems,
  ): Promise<void> {
    const forms = { password: EMPTY_FORM, close: EMPTY_FORM, [form]: { values: {}, problems } };
    await this.pages.show(request, reply, 'account', forms, REFUSED);
  }
}
