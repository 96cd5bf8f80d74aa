/** As openInfrastructure takes it. */
export interface Database {
  /** A value for DATABASE_URL. */
  readonly databaseUrl: string;
  /** Stops an embedded server that nobody else uses. Close every connection to it first. */
  readonly closeDatabase?: () => Promise<void>;
}

/**
 * The database that was given, or else an embedded one on the data folder. Its launcher is loaded only for the latter.
 * @param options.onEvent receives a sentence when an embedded server went away and when it is back.
 * @throws Error with one sentence for the operator, where no embedded server can be had.
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
