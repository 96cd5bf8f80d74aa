import {
  type Account,
  ChangePassword,
  CloseAccount,
  EndAllSessions,
  RequestAddressChange,
} from '@adoption-store/domain';
import { Body, Controller, Get, Post, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Devices } from '../http/devices.js';
import { EMPTY_FORM, fields, problemsOf } from '../http/forms.js';
import { CountsAs, FormThrottlerGuard } from '../http/form-throttler.guard.js';
import { redirect } from '../http/notices.js';
import { Pages, REFUSED } from '../http/pages.js';
import { Sessions } from '../http/sessions.js';
import { SignedIn } from '../http/signed-in.guard.js';
import type { Form, Views } from '../views.js';

const WRONG = 'Not your password.';
const EMPTY_FORMS = { address: EMPTY_FORM, password: EMPTY_FORM, close: EMPTY_FORM };

/** The pages about the account itself. */
@Controller('account')
export class AccountController {
  constructor(
    private readonly pages: Pages,
    private readonly sessions: Sessions,
    private readonly devices: Devices,
    private readonly throttler: FormThrottlerGuard,
    private readonly requestAddressChange: RequestAddressChange,
    private readonly changePassword: ChangePassword,
    private readonly endAllSessions: EndAllSessions,
    private readonly closeAccount: CloseAccount,
  ) {}

  @Get()
  async show(@Res() reply: FastifyReply): Promise<void> {
    await this.pages.show(reply, 'account', EMPTY_FORMS);
  }

  @Post('address')
  @CountsAs('password')
  async changeAddress(
    @Res() reply: FastifyReply,
    @SignedIn() { id: accountId }: Account,
    @Body() body: unknown,
  ): Promise<void> {
    const { email, password } = fields(body, 'email', 'password');
    let isSent: boolean;
    try {
      isSent = await this.requestAddressChange.execute({ accountId, email, password });
    } catch (error) {
      const problems = problemsOf(error, { email: 'email', password: 'password' });
      await this.refuse(reply, 'address', { values: { email }, problems });
      return;
    }
    await this.throttler.forgive(reply.request);
    redirect(reply, '/account', isSent ? 'address-change-sent' : 'address-change-not-sent');
  }

  @Post('password')
  @CountsAs('password')
  async change(
    @Res() reply: FastifyReply,
    @SignedIn() { id: accountId }: Account,
    @Body() body: unknown,
  ): Promise<void> {
    const { current, next } = fields(body, 'current', 'next');
    let changed: Account | undefined;
    try {
      changed = await this.changePassword.execute({ accountId, current, next });
    } catch (error) {
      await this.refuse(reply, 'password', {
        values: {},
        problems: problemsOf(error, { current: 'current', password: 'next' }),
      });
      return;
    }
    if (changed === undefined) {
      await this.refuse(reply, 'password', { values: {}, problems: { current: WRONG } });
      return;
    }
    await this.throttler.forgive(reply.request);
    await this.sessions.renew(reply, changed);
    this.devices.remember(reply, changed);
    redirect(reply, '/account', 'password-changed');
  }

  // A refused sign-out would leave sessions open.
  @Post('sign-out-everywhere')
  @CountsAs('uncounted')
  async signOutEverywhere(@Res() reply: FastifyReply, @SignedIn() { id: accountId }: Account): Promise<void> {
    await this.endAllSessions.execute({ accountId });
    await this.sessions.end(reply);
    redirect(reply, '/', 'signed-out-everywhere');
  }

  @Post('close')
  @CountsAs('password')
  async close(
    @Res() reply: FastifyReply,
    @SignedIn() { id: accountId }: Account,
    @Body() body: unknown,
  ): Promise<void> {
    const { password } = fields(body, 'password');
    if (!(await this.closeAccount.execute({ accountId, password }))) {
      await this.refuse(reply, 'close', { values: {}, problems: { password: WRONG } });
      return;
    }
    await this.sessions.end(reply);
    redirect(reply, '/', 'account-closed');
  }

  private async refuse(reply: FastifyReply, name: keyof Views['account'], form: Form): Promise<void> {
    await this.pages.show(reply, 'account', { ...EMPTY_FORMS, [name]: form }, REFUSED);
  }
}
