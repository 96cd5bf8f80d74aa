import { type Account, ProveAddress, RequestAddressProof } from '@adoption-store/domain';
import { Body, Controller, Get, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { EMPTY_FORM, fields } from '../http/forms.js';
import { redirect } from '../http/notices.js';
import { Pages, REFUSED } from '../http/pages.js';
import { Public, SignedIn } from '../http/signed-in.guard.js';

const SPENT = 'This link is unknown, too old or was used before. Sign in to request another one.';

/**
 * Proves an address with a mailed link. The link only opens the form, because programs that scan mail open links too.
 */
@Controller()
export class ProofController {
  constructor(
    private readonly pages: Pages,
    private readonly requestAddressProof: RequestAddressProof,
    private readonly proveAddress: ProveAddress,
  ) {}

  @Public()
  @Get('confirm-address')
  async show(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    await this.pages.show(request, reply, 'confirm-address', EMPTY_FORM);
  }

  @Public()
  @Post('confirm-address')
  async prove(@Req() request: FastifyRequest, @Res() reply: FastifyReply, @Body() body: unknown): Promise<void> {
    const { token } = fields(body, 'token');
    if ((await this.proveAddress.execute({ token: token.trim() })) !== undefined) {
      redirect(reply, request.account === undefined ? '/sign-in' : '/account', 'address-proven');
      return;
    }
    const form = { values: { token }, problems: { token: SPENT } };
    await this.pages.show(request, reply, 'confirm-address', form, REFUSED);
  }

  @Post('account/proof')
  async sendAgain(@Res() reply: FastifyReply, @SignedIn() account: Account): Promise<void> {
    const isSent = await this.requestAddressProof.execute(account);
    redirect(reply, '/account', isSent ? 'proof-sent' : 'proof-not-sent');
  }
}
