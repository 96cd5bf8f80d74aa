import { AsyncResource } from 'node:async_hooks';
import { tracingChannel } from 'node:diagnostics_channel';
import type { AfterQueryEvent, BeforeQueryEvent, EntitySubscriberInterface, QueryRunner } from 'typeorm';

/** The published part of a query. It has no parameter values, because they may be private. */
export interface TracedQuery {
  readonly name?: string;
  readonly text: string;
}

/** Subscribers to this channel trace queries. Without a subscriber nothing is published. */
export const queries = tracingChannel<unknown, TracedQuery>('adoption-store:query');

/** Publishes TypeORM's queries. */
export class QueryTracing implements EntitySubscriberInterface {
  private readonly begun = new WeakMap<QueryRunner, TracedQuery>();

  beforeQuery({ queryRunner, query: text }: BeforeQueryEvent): void {
    if (!queries.start.hasSubscribers) return;
    const query = { text };
    this.begun.set(queryRunner, query);
    queries.start.publish(query);
  }

  afterQuery({ queryRunner, error }: AfterQueryEvent): void {
    const query = this.begun.get(queryRunner);
    this.begun.delete(queryRunner);
    if (query !== undefined) queries.asyncEnd.publish(Object.assign(query, { error: error as unknown }));
  }
}

export function callersTrace(): <Result>(work: () => Result) => Result {
  const caller = new AsyncResource('adoption-store:query');
  return (work) => caller.runInAsyncScope(work);
}
