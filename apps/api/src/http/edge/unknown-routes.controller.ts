import { keptPath, Wording } from '@adoption-store/domain';
import { originForm, pathOf, RouteTable } from '@adoption-store/web/edge';
import { All, Controller, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { HttpError, httpErrorOf, shown } from '../answers/error-codes.js';

/** Answers requests that match no other route. It is a controller, so that the guards run first. */
@Controller()
export class UnknownRoutesController {
  constructor(private readonly routes: RouteTable) {}

  @All('*')
  answer(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    const fault = this.routes.faultOf(request);
    if (fault === undefined) throw nothingAt(request, this.routes);
    if (request.method !== 'OPTIONS' || fault.code !== 'method_not_allowed') throw httpErrorOf(fault);
    reply.code(204).headers(fault.headers).send();
  }
}

/** Names the request, and the path that was probably meant. */
function nothingAt({ method, originalUrl }: FastifyRequest, routes: RouteTable): HttpError {
  const path = pathOf(originForm(originalUrl));
  const meant = meantBy(path, routes.paths());
  const hint = meant === undefined ? '' : `; did you mean ${shown(meant)}?`;
  const keptHint = meant === undefined ? '' : `; did you mean ${keptPath(meant)}?`;
  const text = `there is nothing at ${method} ${shown(path)}${hint}`;
  return new HttpError('not_found', new Wording(text, `there is nothing at ${method} ${keptPath(path)}${keptHint}`));
}

/** The path of a route, if the given path has only another case, `/v1` twice or not at all, or slashes too many. */
function meantBy(path: string, routes: readonly string[]): string | undefined {
  const given = path.split('/').filter((part) => part !== '');
  const begin = given.findIndex((part) => part.toLowerCase() !== 'v1');
  const parts = ['', 'v1', ...(begin === -1 ? [] : given.slice(begin))];
  const isMeant = (route: readonly string[]) =>
    route.length === parts.length && route.every((each, index) => each === ':' || each === parts[index]?.toLowerCase());
  const route = routes.map((each) => each.split('/')).find(isMeant);
  return route?.map((each, index) => (each === ':' ? parts[index] : each)).join('/');
}
