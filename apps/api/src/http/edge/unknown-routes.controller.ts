import { RouteTable } from '@adoption-store/web/edge';
import { All, Controller, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { HttpRefusal, asRefusal } from '../answers/error-codes.js';

/** Answers requests that match no other route. It is a controller, so that the guards run first. */
@Controller()
export class UnknownRoutesController {
  constructor(private readonly routes: RouteTable) {}

  @All('*')
  answer(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    const fault = this.routes.faultOf(request);
    if (fault === undefined) throw new HttpRefusal('not_found', 'there is nothing at this path');
    if (request.method !== 'OPTIONS' || fault.code !== 'method_not_allowed') throw asRefusal(fault);
    reply.code(204).headers(fault.headers).send();
  }
}
