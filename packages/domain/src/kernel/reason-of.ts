/** The error's message. Never its other properties, which may contain private data. */
export function reasonOf(error: unknown): string {
  // Node throws one error for all addresses of a host that could not be reached.
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join('; ');
  return error instanceof Error ? error.message : String(error);
}
