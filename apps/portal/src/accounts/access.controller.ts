import { type Account, EndAccess, ListWebhooks, ShowKeys } from '@adoption-store/domain';
import { Controller, Get, Post } from '@nestjs/common';
import { SignedIn } from '../http/decorators.js';
import { type Answer, page, redirect } from '../http/pages.js';

/** What may act for an account without its password. Signing in after a reset leads here. */
@Controller('access')
export class AccessController {
  constructor(
    private readonly showKeys: ShowKeys,
    private readonly listWebhooks: ListWebhooks,
    private readonly endAccess: EndAccess,
  ) {}

  @Get()
  async show(@SignedIn() { id: accountId }: Account): Promise<Answer> {
    const { items, next } = await this.showKeys.execute({ accountId, states: ['active', 'disabled'] });
    const webhooks = await this.listWebhooks.execute({ accountId });
    return page('access', { keys: items, hasMore: next !== undefined, webhooks });
  }

  @Post('end')
  async end(@SignedIn() { id: accountId, credentialVersion }: Account): Promise<Answer> {
    await this.endAccess.execute({ accountId, credentialVersion });
    return redirect('/keys', 'access-ended');
  }
}
