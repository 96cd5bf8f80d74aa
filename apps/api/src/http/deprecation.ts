import { int64From } from '@adoption-store/domain';
import type { Deprecation } from '@adoption-store/web';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ApiContext } from './api-context.js';
import { HttpRefusal } from './error-codes.js';

/** Tells callers that an operation will be removed. */
export class DeprecationNotice {
  /** RFC 9745 §2.1 and RFC 8594 §3. */
  readonly headers: Readonly<Record<'deprecation' | 'sunset', string>>;

  constructor(readonly deprecation: Deprecation) {
    const { since, sunset } = deprecation;
    this.headers = { deprecation: `@${since / 1_000}`, sunset: new Date(sunset).toUTCString() };
  }

  /** @throws HttpRefusal 410 from the sunset on. */
  give(context: ApiContext, request: FastifyRequest, reply: FastifyReply): void {
    const { operation, sunset, replacement } = this.deprecation;
    const origin = context.origin(request);
    const successor = `<${origin}${this.successor(request.params as Record<string, string>)}>; rel="successor-version"`;
    reply.headers({ ...this.headers, link: `${successor}, <${origin}/docs>; rel="deprecation"; type="text/html"` });
    if (context.clock.now() >= sunset) {
      throw new HttpRefusal('gone', `${operation} has been removed, use ${replacement}`);
    }
  }

  /** The path of the replacement with the request's ids. Without its query if a parameter isn't a valid id. */
  private successor(parameters: Readonly<Record<string, string>>): string {
    const { replacement } = this.deprecation;
    const path = replacement.slice(replacement.indexOf('/'));
    const hasIds = Object.values(parameters).every((text) => int64From(text) !== undefined);
    if (!hasIds) return path.replace(/\?.*/, '');
    return path.replace(/\{(\w+)\}/g, (_whole, name: string) => String(int64From(parameters[name])));
  }
}
