/** The requests that an instance of the API decided without Redis, as its metrics at that address tell. */
export async function decidedAlone(metrics: string): Promise<number> {
  const page = await (await fetch(metrics)).text();
  return Number(/^adoption_store_limit_fallbacks_total (\d+)$/m.exec(page)?.[1]);
}
