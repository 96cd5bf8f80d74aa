import {
  type Account,
  ChangePassword,
  CloseAccount,
  EndAllSessions,
  RequestAddressChange,
} from '@adoption-store/domain';
import { Body, Controller, Get, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Devices } from '../http/devices.js';
import { EMPTY_FORM, fields, problemsOf } from '../http/forms.js';
import { CountsAs, FormThrottlerGuard } from '../http/form-throttler.guard.js';
import { type Answer, page, redirect } from '../http/pages.js';
import { Sessions } from '../http/sessions.js';
import { SignedIn } from '../http/signed-in.guard.js';
import type { Form, Problems, Views } from '../http/views.js';

const WRONG = 'Not your password.';
const EMPTY_FORMS = { address: EMPTY_FORM, password: EMPTY_FORM, close: EMPTY_FORM };

/** The pages about the account itself. */
@Controller('account')
export class AccountController {
  constructor(
    private readonly sessions: Sessions,
    private readonly devices: Devices,
    private readonly throttler: FormThrottlerGuard,
    private readonly requestAddressChange: RequestAddressChange,
    private readonly changePassword: ChangePassword,
    private readonly endAllSessions: EndAllSessions,
    private readonly closeAccount: CloseAccount,
  ) {}

  @Get()
  show(): Answer {
    return page('account', EMPTY_FORMS);
  }

  @Post('address')
  @CountsAs('password')
  async changeAddress(
    @Req() request: FastifyRequest,
    @SignedIn() { id: accountId }: Account,
    @Body() body: unknown,
  ): Promise<Answer> {
    const { email, password } = fields(body, 'email', 'password');
    let isSent: boolean;
    try {
      isSent = await this.requestAddressChange.execute({ accountId, email, password });
    } catch (error) {
      return refused('address', problemsOf(error, 'email', 'password'), { email });
    }
    await this.throttler.forgive(request);
    return redirect('/account', isSent ? 'address-change-sent' : 'address-change-not-sent');
  }

  @Post('password')
  @CountsAs('password')
  async change(
    @Res({ passthrough: true }) reply: FastifyReply,
    @SignedIn() { id: accountId }: Account,
    @Body() body: unknown,
  ): Promise<Answer> {
    const { current, next } = fields(body, 'current', 'next');
    let changed: Account | undefined;
    try {
      changed = await this.changePassword.execute({ accountId, current, next });
    } catch (error) {
      return refused('password', problemsOf(error, 'current', 'next'));
    }
    if (changed === undefined) return refused('password', { current: WRONG });
    await this.throttler.forgive(reply.request);
    await this.sessions.renew(reply, changed);
    this.devices.remember(reply, changed);
    return redirect('/account', 'password-changed');
  }

  // A refused sign-out would leave sessions open.
  @Post('sign-out-everywhere')
  @CountsAs('uncounted')
  async signOutEverywhere(
    @Res({ passthrough: true }) reply: FastifyReply,
    @SignedIn() { id: accountId }: Account,
  ): Promise<Answer> {
    await this.endAllSessions.execute({ accountId });
    await this.sessions.end(reply);
    return redirect('/', 'signed-out-everywhere');
  }

  @Post('close')
  @CountsAs('password')
  async close(
    @Res({ passthrough: true }) reply: FastifyReply,
    @SignedIn() { id: accountId }: Account,
    @Body() body: unknown,
  ): Promise<Answer> {
    const { password } = fields(body, 'password');
    if (!(await this.closeAccount.execute({ accountId, password }))) return refused('close', { password: WRONG });
    await this.sessions.end(reply);
    return redirect('/', 'account-closed');
  }
}

function refused(name: keyof Views['account'], problems: Problems, values: Form['values'] = {}): Answer {
  return page('account', { ...EMPTY_FORMS, [name]: { values, problems } });
}
