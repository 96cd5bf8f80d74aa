import pg from 'pg';
import { isConnectionLost } from './database-errors.js';
import { inTime, LateError, whenLate } from './patience.js';
import { PreparedQuery, type Row, type Statement } from './prepared-query.js';
import { traced } from './query-tracing.js';

/**
 * A connection that is given up where its answer is late, or says that it ends. pg's own `query_timeout` gives only the
 * answer up: the next query would wait behind it, and, where it was to begin or to end a transaction, be part of that.
 */
export class ImpatientClient extends pg.Client {
  constructor(config?: pg.ClientConfig) {
    super(config);
    // Without a listener it would end the process, and there is none from the moment on that the pool hands a client out
    // until TypeORM has taken it. Nothing is missed: the query that follows is rejected.
    this.on('error', this.lose);
    this.on('end', this.lose);
  }

  /** Whether the connection is gone, or going. */
  isLost = false;

  // pg's overloads come to one of these: TypeORM asks for promises, and the rest is left as it is.
  override query(...parameters: unknown[]): never {
    const query = super.query.bind(this) as (...parameters: unknown[]) => unknown;
    const answer = traced(query, parameters);
    return (answer instanceof Promise ? this.inTime(answer) : answer) as never;
  }

  /**
   * Runs a statement that is prepared once.
   *
   * @param since when the patience with it began (`inTime`).
   */
  queryPrepared(statement: Statement, values: string[], since: number): Promise<readonly Row[]> {
    const send = () =>
      new Promise<readonly Row[]>((resolve, reject) => {
        const fail = (error: Error) => {
          answered();
          if (error instanceof LateError || isConnectionLost(error)) this.giveUp();
          reject(error);
        };
        const answered = whenLate(since, () => {
          fail(new LateError());
        });
        const succeed = (rows: readonly Row[]) => {
          answered();
          resolve(rows);
        };
        super.query(new PreparedQuery(statement, values, succeed, fail));
      });
    return traced(send, [statement]) as Promise<readonly Row[]>;
  }

  private async inTime<Answer>(answer: Promise<Answer>): Promise<Answer> {
    try {
      return await inTime(answer);
    } catch (error) {
      if (error instanceof LateError || isConnectionLost(error)) this.giveUp();
      throw error;
    }
  }

  private readonly lose = () => {
    this.isLost = true;
  };

  /** The pool drops a client that has begun to end. */
  private giveUp(): void {
    this.lose();
    // Where the server is gone, there is nobody to hear the goodbye.
    void this.end().catch(() => undefined);
  }
}
