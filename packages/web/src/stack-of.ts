/** Where it happened, and why. Nothing else of the error is for the log: a failed query carries its parameters. */
export function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined
    ? (error.stack ?? error.message)
    : `${error.stack}\ncaused by ${stackOf(error.cause)}`;
}
