import { int64From, ourText } from '@adoption-store/domain';
import type { Deprecation } from '@adoption-store/web';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ApiContext } from '../answers/api-context.js';
import { HttpError } from '../answers/error-codes.js';

const DOCS = '/docs>; rel="deprecation"; type="text/html"';

export class DeprecationNotice {
  /** RFC 9745 §2.1 and RFC 8594 §3. */
  readonly headers: Readonly<Record<'deprecation' | 'sunset', string>>;
  /** The path of the replacement: text, the name of a parameter, text, and so on. */
  private readonly parts: readonly string[];

  constructor(readonly deprecation: Deprecation) {
    const { since, sunset, replacement } = deprecation;
    this.headers = { deprecation: `@${since / 1_000}`, sunset: new Date(sunset).toUTCString() };
    this.parts = replacement.slice(replacement.indexOf('/')).split(/[{}]/);
  }

  /** Sets the headers. @throws HttpError 410 from the sunset on. */
  give(context: ApiContext, request: FastifyRequest, reply: FastifyReply): void {
    const { operation, sunset, replacement } = this.deprecation;
    const origin = context.origin(request);
    const successor = this.successor(request.params as Record<string, string>);
    reply.headers(this.headers).header('link', `<${origin}${successor}>; rel="successor-version", <${origin}${DOCS}`);
    if (context.clock.now() >= sunset)
      throw new HttpError('gone', ourText(`${operation} has been removed, use ${replacement}`));
  }

  /** The path of the replacement with the request's ids. Without its query if a parameter isn't a valid id. */
  private successor(parameters: Readonly<Record<string, string>>): string {
    let path = '';
    for (let index = 0; index < this.parts.length; index += 1) {
      const part = this.parts[index] ?? '';
      const id = index % 2 === 0 ? part : int64From(parameters[part]);
      if (id === undefined) return path.replace(/\?.*/, '');
      path += String(id);
    }
    return path;
  }
}
