import { type Account, type Clock, ShowUsage } from '@adoption-store/domain';
import { Controller, Get, Inject, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CLOCK } from '../http/clock.js';
import { Pages } from '../http/pages.js';
import { SignedIn } from '../http/signed-in.guard.js';

/** The pages about usage, limits and how to call the API. */
@Controller()
export class UsageController {
  constructor(
    private readonly pages: Pages,
    private readonly showUsage: ShowUsage,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  @Get('usage')
  async usage(
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @SignedIn() { id: accountId }: Account,
  ): Promise<void> {
    const usage = await this.showUsage.execute({ accountId });
    await this.pages.show(request, reply, 'usage', { usage, now: this.clock.now() });
  }

  @Get('plan')
  async plan(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    await this.pages.show(request, reply, 'plan', {});
  }

  @Get('quickstart')
  async quickstart(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    await this.pages.show(request, reply, 'quickstart', {});
  }
}
