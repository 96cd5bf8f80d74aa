import type { FastifyReply, FastifyRequest } from 'fastify';

/** What is told of a request once its answer is out, `milliseconds` after it came. */
export type Observe = (request: FastifyRequest, reply: FastifyReply, milliseconds: number) => void;

/** A request that no route ever saw: it was answered on its connection. */
export interface SocketAnswer {
  readonly requestId: string;
  /** Undefined where not even that could be read. */
  readonly method: string | undefined;
  readonly status: number;
}

/** Watches what the API answers. */
export interface RequestObserver {
  /** Called once for each route, so that what can be prepared is. */
  readonly forRoute: (route: string) => Observe;
  readonly onSocketAnswer: (answer: SocketAnswer) => void;
}

/** What takes requests that no route takes. */
export const NO_ROUTE = '*';

/**
 * One request, as its observers see it. Not by Fastify's own onResponse, which takes longer than what is done in it; and
 * not a closure: V8 would keep those of all requests until the next full collection of garbage.
 */
export class Watch {
  private readonly startedAt = performance.now();

  constructor(
    private readonly observes: readonly Observe[],
    private readonly request: FastifyRequest,
    private readonly reply: FastifyReply,
  ) {}

  onSent(): void {
    const milliseconds = performance.now() - this.startedAt;
    for (const observe of this.observes) observe(this.request, this.reply, milliseconds);
  }
}

/** As the documentation writes it, such as `/v1/pets/{petId}`. */
export function shownRoute(url: string): string {
  return url.includes('*') ? NO_ROUTE : url.replace(/:(\w+)/g, '{$1}');
}
