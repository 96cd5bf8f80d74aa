import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import { stackOf } from '@adoption-store/web';
import { DomainError } from '@adoption-store/domain';

/** The maximum number of waiting tasks: more would run too late to be useful. */
const MOST = 1_000;

/** Tasks that run after the response, one at a time, so that the response time doesn't reveal their duration. */
export class AfterAnswer {
  private last: Promise<void> = Promise.resolve();
  private waiting = 0;

  private constructor(private readonly log: FastifyBaseLogger) {}

  /** Closing the server waits for the accepted tasks. */
  static of(fastify: FastifyInstance): AfterAnswer {
    const work = new AfterAnswer(fastify.log);
    fastify.addHook('onClose', () => work.last);
    return work;
  }

  /**
   * Accepts a task. A failure is logged.
   *
   * @throws DomainError `service_unavailable` if the queue is full.
   */
  take(name: string, work: () => Promise<void>): void {
    if (this.waiting >= MOST) throw new DomainError('service_unavailable', 'too many tasks are waiting');
    this.waiting += 1;
    this.last = this.last
      .then(work)
      .catch((error: unknown) => {
        this.log.error({ work: name, stack: stackOf(error) }, 'an accepted task has failed');
      })
      .finally(() => {
        this.waiting -= 1;
      });
  }
}
