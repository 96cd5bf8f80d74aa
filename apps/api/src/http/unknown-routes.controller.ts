import { All, Controller, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { HttpRefusal } from './error-codes.js';
import { isDecodable, pathOf } from './request-target.js';
import { RouteTable } from './route-table.js';

/** Answers requests that match no other route. It is a controller, so that the guards run first. */
@Controller()
export class UnknownRoutesController {
  constructor(private readonly routes: RouteTable) {}

  @All('*')
  answer(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    const path = pathOf(request.originalUrl);
    if (!isDecodable(path)) throw new HttpRefusal('bad_request', 'the path has a bad percent-encoding');
    const methods = this.routes.methodsOf(request.url);
    if (methods.length === 0) throw new HttpRefusal('not_found', 'there is nothing at this path');
    const allow = methods.join(', ');
    if (request.method !== 'OPTIONS') {
      throw new HttpRefusal('method_not_allowed', `${request.method} is not allowed here, only ${allow}`, { allow });
    }
    reply.code(204).header('allow', allow).send();
  }
}
