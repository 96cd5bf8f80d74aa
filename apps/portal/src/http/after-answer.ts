import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import { stackOf } from '@adoption-store/web';
import { DomainError } from '@adoption-store/domain';

/** The maximum number of waiting tasks: more would run too late to be useful. */
const MOST = 1_000;

/** Work whose length nobody may learn from an answer: it is done after it, a piece at a time. */
export class AfterAnswer {
  private last: Promise<void> = Promise.resolve();
  private waiting = 0;

  private constructor(private readonly log: FastifyBaseLogger) {}

  /** Closing the server waits for what was taken. */
  static of(fastify: FastifyInstance): AfterAnswer {
    const work = new AfterAnswer(fastify.log);
    fastify.addHook('onClose', () => work.last);
    return work;
  }

  /**
   * Takes a piece of work; the operator is told where it fails.
   *
   * @throws DomainError `service_unavailable` where too much is waiting already.
   */
  take(name: string, work: () => Promise<void>): void {
    if (this.waiting >= MOST) throw new DomainError('service_unavailable', 'too much is waiting to be done');
    this.waiting += 1;
    this.last = this.last
      .then(work)
      .catch((error: unknown) => {
        this.log.error({ work: name, stack: stackOf(error) }, 'work that was accepted has failed');
      })
      .finally(() => {
        this.waiting -= 1;
      });
  }
}
