import { type Account, ChangeAddress, DomainError, ProveAddress, RequestAddressProof } from '@adoption-store/domain';
import { Body, Controller, Get, Post, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { EMPTY_FORM, fields } from '../http/forms.js';
import { type Answer, page, redirect } from '../http/pages.js';
import { Public, SignedIn } from '../http/signed-in.guard.js';
import type { Form } from '../http/views.js';

// Told only to somebody who reads the mails to that address.
const TAKEN = 'The new address has an account of its own. Sign in to that one, or choose another address.';

/**
 * Proves an address, or a new one, with a mailed link. The link only opens the form, because programs that scan mail open links too.
 */
@Controller()
export class ProofController {
  constructor(
    private readonly requestAddressProof: RequestAddressProof,
    private readonly proveAddress: ProveAddress,
    private readonly changeAddress: ChangeAddress,
  ) {}

  @Public()
  @Get('confirm-address')
  show(): Answer {
    return page('confirm-address', EMPTY_FORM);
  }

  @Public()
  @Post('confirm-address')
  async prove(@Req() request: FastifyRequest, @Body() body: unknown): Promise<Answer> {
    const { token } = fields(body, 'token');
    const proven = await this.proveAddress.execute({ token: token.trim() });
    return proven === undefined
      ? page('confirm-address', spent(token))
      : redirect(afterwards(request), 'address-proven');
  }

  @Public()
  @Get('confirm-new-address')
  showChange(): Answer {
    return page('confirm-new-address', EMPTY_FORM);
  }

  @Public()
  @Post('confirm-new-address')
  async change(@Req() request: FastifyRequest, @Body() body: unknown): Promise<Answer> {
    const { token } = fields(body, 'token');
    try {
      const changed = await this.changeAddress.execute({ token: token.trim() });
      if (changed === undefined) return page('confirm-new-address', spent(token));
    } catch (error) {
      if (!(error instanceof DomainError) || error.code !== 'email_taken') throw error;
      return page('confirm-new-address', { values: { token }, problems: { token: TAKEN } });
    }
    return redirect(afterwards(request), 'address-changed');
  }

  @Post('account/proof')
  async sendAgain(@SignedIn() account: Account): Promise<Answer> {
    const isSent = await this.requestAddressProof.execute(account);
    return redirect('/account', isSent ? 'proof-sent' : 'proof-not-sent');
  }
}

/** The page of the account has the forms for another link, and asks to sign in. */
function spent(token: string): Form {
  const links = { token: { href: '/account', text: 'Request another link' } };
  return { values: { token }, problems: { token: 'This link is unknown, too old or was used before.' }, links };
}

function afterwards({ account }: FastifyRequest): string {
  return account === undefined ? '/sign-in' : '/account';
}
