import { type Account, type ApiKeyId, type Clock, ShowRefusals, ShowUsage } from '@adoption-store/domain';
import { Controller, Get, Inject, NotFoundException, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { CLOCK } from '../http/clock.js';
import { fields, wholeNumber } from '../http/forms.js';
import { filterFrom, int64 } from '../http/lists.js';
import { Pages } from '../http/pages.js';
import { Public, SignedIn } from '../http/signed-in.guard.js';

/** Refused requests on a page. */
const PAGE_SIZE = 25;

/** The pages about usage, limits and how to call the API. */
@Controller()
export class UsageController {
  constructor(
    private readonly pages: Pages,
    private readonly showUsage: ShowUsage,
    private readonly showRefusals: ShowRefusals,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  @Get('usage')
  async usage(
    @Res() reply: FastifyReply,
    @SignedIn() { id: accountId }: Account,
    @Query() query: unknown,
  ): Promise<void> {
    const { key } = wantedOf(query, { key: int64('key') });
    const usage = await this.showUsage.execute({ accountId, keyId: key as ApiKeyId | undefined });
    await this.pages.show(reply, 'usage', { usage, now: this.clock.now() });
  }

  @Get('refusals')
  async refusals(
    @Res() reply: FastifyReply,
    @SignedIn() { id: accountId }: Account,
    @Query() query: unknown,
  ): Promise<void> {
    const { request: asked = '' } = wantedOf(query, { request: String });
    const page = wholeNumber(fields(query, 'page').page, 1, 100) ?? 1;
    const all = await this.showRefusals.execute({ accountId, requestId: asked === '' ? undefined : asked });
    const addressOf = (other: number) =>
      `/refusals?${String(new URLSearchParams({ request: asked, page: `${other}` }))}`;
    await this.pages.show(reply, 'refusals', {
      refusals: all.slice((page - 1) * PAGE_SIZE, page * PAGE_SIZE),
      asked,
      newer: page > 1 ? addressOf(page - 1) : undefined,
      older: all.length > page * PAGE_SIZE ? addressOf(page + 1) : undefined,
    });
  }

  @Get('plan')
  async plan(@Res() reply: FastifyReply): Promise<void> {
    await this.pages.show(reply, 'plan', {});
  }

  @Get('quickstart')
  @Public()
  async quickstart(@Res() reply: FastifyReply): Promise<void> {
    await this.pages.show(reply, 'quickstart', {});
  }
}

/** The filter in the page's address. One that can't be understood, or is given twice, leads nowhere. */
function wantedOf<Each extends Parameters<typeof filterFrom>[1]>(query: unknown, checks: Each) {
  const { wanted } = filterFrom(query, checks);
  if (wanted === undefined) throw new NotFoundException();
  return wanted;
}
