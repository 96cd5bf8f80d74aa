/** The stack and the causes. Other fields aren't logged: the error of a failed query carries its parameters. */
export function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined
    ? (error.stack ?? error.message)
    : `${error.stack}\ncaused by ${stackOf(error.cause)}`;
}
