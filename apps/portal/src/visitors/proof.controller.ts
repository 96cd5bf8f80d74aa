import { type Account, ChangeAddress, DomainError, ProveAddress, RequestAddressProof } from '@adoption-store/domain';
import { Body, Controller, Get, Post, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { EMPTY_FORM, fields } from '../http/forms.js';
import { redirect } from '../http/notices.js';
import { Pages, REFUSED } from '../http/pages.js';
import { Public, SignedIn } from '../http/signed-in.guard.js';
import type { Form } from '../views.js';

const SPENT = 'This link is unknown, too old or was used before.';
// Told only to somebody who reads the mails to that address.
const TAKEN = 'The new address has an account of its own. Sign in to that one, or choose another address.';
// The page of the account has the forms for it, and asks to sign in.
const ANOTHER_LINK = { token: { href: '/account', text: 'Request another link' } };

/**
 * Proves an address, or a new one, with a mailed link. The link only opens the form, because programs that scan mail open links too.
 */
@Controller()
export class ProofController {
  constructor(
    private readonly pages: Pages,
    private readonly requestAddressProof: RequestAddressProof,
    private readonly proveAddress: ProveAddress,
    private readonly changeAddress: ChangeAddress,
  ) {}

  @Public()
  @Get('confirm-address')
  async show(@Res() reply: FastifyReply): Promise<void> {
    await this.pages.show(reply, 'confirm-address', EMPTY_FORM);
  }

  @Public()
  @Post('confirm-address')
  async prove(@Res() reply: FastifyReply, @Body() body: unknown): Promise<void> {
    const { token } = fields(body, 'token');
    if ((await this.proveAddress.execute({ token: token.trim() })) !== undefined) {
      redirect(reply, reply.request.account === undefined ? '/sign-in' : '/account', 'address-proven');
      return;
    }
    const form = { values: { token }, problems: { token: SPENT }, links: ANOTHER_LINK };
    await this.pages.show(reply, 'confirm-address', form, REFUSED);
  }

  @Public()
  @Get('confirm-new-address')
  async showChange(@Res() reply: FastifyReply): Promise<void> {
    await this.pages.show(reply, 'confirm-new-address', EMPTY_FORM);
  }

  @Public()
  @Post('confirm-new-address')
  async change(@Res() reply: FastifyReply, @Body() body: unknown): Promise<void> {
    const { token } = fields(body, 'token');
    let form: Form = { values: { token }, problems: { token: SPENT }, links: ANOTHER_LINK };
    try {
      if ((await this.changeAddress.execute({ token: token.trim() })) !== undefined) {
        redirect(reply, reply.request.account === undefined ? '/sign-in' : '/account', 'address-changed');
        return;
      }
    } catch (error) {
      if (!(error instanceof DomainError) || error.code !== 'email_taken') throw error;
      form = { values: { token }, problems: { token: TAKEN } };
    }
    await this.pages.show(reply, 'confirm-new-address', form, REFUSED);
  }

  @Post('account/proof')
  async sendAgain(@Res() reply: FastifyReply, @SignedIn() account: Account): Promise<void> {
    const isSent = await this.requestAddressProof.execute(account);
    redirect(reply, '/account', isSent ? 'proof-sent' : 'proof-not-sent');
  }
}
