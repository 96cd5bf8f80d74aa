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

/** PostgreSQL's messages Execute and Sync (https://www.postgresql.org/docs/current/protocol-message-formats.html). */
const EXECUTE_AND_SYNC = 'E\0\0\0\x09\0\0\0\0\0S\0\0\0\x04';
const ASCII = /^[ -~]*$/;

/** Those after a Bind of the values, all as text: a byte a character. */
function bindAndExecute(name: string, values: readonly string[]): string {
  let bound = `\0${name}\0\0\0${int16(values.length)}`;
  for (const value of values) {
    const bytes = ASCII.test(value) ? value : Buffer.from(value).toString('latin1');
    bound += int32(bytes.length) + bytes;
  }
  // The result is text, too.
  bound += '\0\0';
  return `B${int32(bound.length + 4)}${bound}${EXECUTE_AND_SYNC}`;
}

function int32(value: number): string {
  return int16(value >>> 16) + int16(value);
}

function int16(value: number): string {
  return String.fromCharCode((value >>> 8) & 0xff, value & 0xff);
}

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
    const { parsedStatements, stream } = connection as PreparingConnection;
    if (parsedStatements[name] !== text) stream.write(serialize.parse({ name, text }));
    // As one piece: each would be a call of the system's.
    stream.write(bindAndExecute(name, values), 'latin1');
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
