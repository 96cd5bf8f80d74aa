import { Controller, Get, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { redirect } from '../http/notices.js';
import { Pages } from '../http/pages.js';
import { Public } from '../http/signed-in.guard.js';

@Public()
@Controller()
export class HomeController {
  constructor(private readonly pages: Pages) {}

  @Get('/')
  async show(@Res() reply: FastifyReply): Promise<void> {
    if (reply.request.account === undefined) await this.pages.show(reply, 'home', {});
    else redirect(reply, '/keys');
  }
}
