import type { Connection, Submittable } from 'pg';
import { serialize } from 'pg-protocol';

/** A row as the server writes it: text, in the order of the columns. */
export type Row = readonly (string | null)[];

/** What connections know by its name once they have prepared it: another text needs another name. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

/** What pg's connection has beside what its types tell. */
interface PreparingConnection extends Connection {
  /** The texts of the statements that the connection has prepared, by their names. */
  readonly parsedStatements: Readonly<Record<string, string>>;
}

const EXECUTE_AND_SYNC = Buffer.concat([serialize.execute(), serialize.sync()]);

/**
 * A statement that a connection prepares once, under its name. Unlike pg's own it doesn't ask for the columns each time,
 * which whoever has written the statement knows, and leaves their values as they come.
 */
export class PreparedQuery implements Submittable {
  // pg notes that the connection has prepared them.
  readonly name: string;
  readonly text: string;
  private readonly rows: Row[] = [];

  /** @param values as PostgreSQL reads them. */
  constructor(
    { name, text }: Statement,
    private readonly values: string[],
    private readonly resolve: (rows: readonly Row[]) => void,
    private readonly reject: (error: Error) => void,
  ) {
    this.name = name;
    this.text = text;
  }

  submit(connection: Connection): void {
    const { name, text, values } = this;
    const isPrepared = (connection as PreparingConnection).parsedStatements[name] === text;
    const bind = serialize.bind({ statement: name, values });
    // As one piece: each would be a call of the system's.
    connection.stream.write(
      Buffer.concat([...(isPrepared ? [] : [serialize.parse({ name, text })]), bind, EXECUTE_AND_SYNC]),
    );
  }

  // pg calls these.

  handleDataRow({ fields }: { readonly fields: Row }): void {
    this.rows.push(fields);
  }

  handleCommandComplete(): void {
    // There is one command, and its end comes next.
  }

  handleReadyForQuery(): void {
    this.resolve(this.rows);
  }

  handleError(error: Error): void {
    this.reject(error);
  }
}
