/** The database, in the form that openInfrastructure takes. */
export interface Database {
  readonly databaseUrl: string;
  /** Stops an embedded server that no other process uses. Close every connection first. */
  readonly closeDatabase?: () => Promise<void>;
}

/**
 * The given database, or else an embedded one on the data folder. The launcher is loaded only for an embedded one.
 *
 * @param options.onEvent receives a sentence when the embedded server is lost and when it is back.
 * @throws Error with one sentence for the operator, if there is no embedded server to use.
 */
export async function openDatabase(options: {
  readonly databaseUrl: string | undefined;
  readonly dataDirectory: string;
  readonly onEvent?: (message: string) => void;
}): Promise<Database> {
  if (options.databaseUrl !== undefined) return { databaseUrl: options.databaseUrl };
  const { openEmbeddedPostgres } = await import('./embedded-postgres.js');
  const { url, close } = await openEmbeddedPostgres(options);
  return { databaseUrl: url, closeDatabase: close };
}
