import { type Account, EndAccess, ListWebhooks, ListKeys } from '@adoption-store/domain';
import { Controller, Get, Post } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Reply, SignedIn } from '../http/decorators.js';
import { type Answer, page, redirect } from '../http/pages.js';
import { logSecurity } from '../http/logs.js';

/** What may act for an account without its password. Signing in after a reset leads here. */
@Controller('access')
export class AccessController {
  constructor(
    private readonly listKeys: ListKeys,
    private readonly listWebhooks: ListWebhooks,
    private readonly endAccess: EndAccess,
  ) {}

  @Get()
  async show(@SignedIn() { id: accountId }: Account): Promise<Answer> {
    const { items, next } = await this.listKeys.execute({ accountId, states: ['active', 'disabled'] });
    const webhooks = await this.listWebhooks.execute({ accountId });
    return page('access', { keys: items, hasMore: next !== undefined, webhooks });
  }

  @Post('end')
  async end(@Reply() { request }: FastifyReply, @SignedIn() account: Account): Promise<Answer> {
    await this.endAccess.execute({ accountId: account.id, credentialVersion: account.credentialVersion });
    logSecurity(request, 'access_ended', account);
    return redirect('/keys', 'access-ended');
  }
}
