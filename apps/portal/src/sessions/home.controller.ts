import { Controller, Get, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { type Answer, page, redirect } from '../http/pages.js';
import { Public } from '../http/signed-in.guard.js';

@Public()
@Controller()
export class HomeController {
  @Get('/')
  show(@Req() { account }: FastifyRequest): Answer {
    return account === undefined ? page('home', {}) : redirect('/keys');
  }
}
