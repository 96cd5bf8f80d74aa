import { Controller, Get, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { redirect } from '../http/notices.js';
import { Pages } from '../http/pages.js';
import { Public } from '../http/signed-in.guard.js';

@Public()
@Controller()
export class HomeController {
  constructor(private readonly pages: Pages) {}

  @Get('/')
  async show(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    if (request.account === undefined) await this.pages.show(request, reply, 'home', {});
    else redirect(reply, '/keys');
  }
}
