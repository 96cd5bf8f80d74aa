import { ours, ourText } from '@adoption-store/domain';
import type { FastifyRequest } from 'fastify';
import { HttpFault } from './http-fault.js';
import { isDecodable, pathOf } from './request-target.js';

/** The methods of each path, so that a 405 can name them (RFC 9110 §15.5.6). */
export class RouteTable {
  private readonly routes = new Map<string, string[]>();

  /** @param pattern a path with parameters written as `:name`. */
  add(pattern: string, methods: readonly string[]): void {
    if (pattern.includes('*')) return;
    const path = pattern.replace(/:\w+/g, ':');
    this.routes.set(path, [...(this.routes.get(path) ?? []), ...methods]);
  }

  /** The methods of the URL's path in alphabetical order. Empty if no route has that path. */
  methodsOf(url: string): readonly string[] {
    // The router decodes the path too.
    const path = decodeURI(pathOf(url));
    // As in the router, a fixed path wins: `/v1/pets/count` would not be an animal with the id `count`.
    const pattern = this.routes.has(path) ? path : [...this.routes.keys()].find((each) => matches(each, path));
    return pattern === undefined ? [] : sorted(this.routes.get(pattern) ?? []);
  }

  /** The paths of the routes, with `:` for each parameter. */
  paths(): readonly string[] {
    return [...this.routes.keys()];
  }

  allMethods(): readonly string[] {
    return sorted([...this.routes.values()].flat());
  }

  /** Why no route takes the request. Undefined if there is nothing at its path. */
  faultOf({ originalUrl, url, method }: FastifyRequest): HttpFault | undefined {
    if (!isDecodable(pathOf(originalUrl)))
      return new HttpFault('bad_request', ours`the path has a bad percent-encoding`);
    const allow = this.methodsOf(url).join(', ');
    if (allow === '') return undefined;
    return new HttpFault('method_not_allowed', ours`${ourText(method)} is not allowed here, only ${ourText(allow)}`, {
      allow,
    });
  }
}

function matches(pattern: string, path: string): boolean {
  const parts = path.split('/');
  const wanted = pattern.split('/');
  return wanted.length === parts.length && wanted.every((each, index) => each === ':' || each === parts[index]);
}

function sorted(methods: readonly string[]): readonly string[] {
  return [...new Set(methods)].sort();
}
