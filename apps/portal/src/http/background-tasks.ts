import { DomainError, kernelErrors } from '@adoption-store/domain';
import { stackOf } from '@adoption-store/web';
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';

/** The maximum number of waiting tasks: more would run too late to be useful. */
const MOST = 1_000;

/** Tasks that run after the response, one at a time, so that the response time doesn't reveal their duration. */
export class BackgroundTasks {
  private last: Promise<void> = Promise.resolve();
  private waiting = 0;

  private constructor(private readonly log: FastifyBaseLogger) {}

  /** Closing the server waits for the accepted tasks. */
  static of(fastify: FastifyInstance): BackgroundTasks {
    const tasks = new BackgroundTasks(fastify.log);
    fastify.addHook('onClose', () => tasks.last);
    return tasks;
  }

  /**
   * Accepts a task. A failure is logged.
   *
   * @throws DomainError `service_unavailable` if the queue is full.
   */
  add(name: string, task: () => Promise<void>): void {
    if (this.waiting >= MOST) throw new DomainError(kernelErrors.service_unavailable, 'too many tasks are waiting');
    this.waiting += 1;
    this.last = this.last
      .then(task)
      .catch((error: unknown) => {
        this.log.error({ task: name, stack: stackOf(error) }, 'a background task has failed');
      })
      .finally(() => {
        this.waiting -= 1;
      });
  }
}
