import { type InfrastructureConfig, openInfrastructure } from '@adoption-store/infrastructure';
import { pgBouncerFor } from '@adoption-store/test-support';

const startPooler =
  process.env['TEST_POOLER'] === 'transaction'
    ? pgBouncerFor('the API behind a pooler in transaction mode')
    : undefined;

/** Opens the store, behind a pooler of its own with TEST_POOLER=transaction. */
export async function openPooled(config: InfrastructureConfig): ReturnType<typeof openInfrastructure> {
  const { databaseUrl } = config;
  const pooler = await startPooler?.(databaseUrl);
  if (pooler === undefined) return openInfrastructure(config);
  const infrastructure = await openInfrastructure({
    ...config,
    databaseUrl: pooler.urlOf(databaseUrl),
    directDatabaseUrl: databaseUrl,
  });
  const begun = await pooler.transactions(databaseUrl);
  return {
    ...infrastructure,
    async close() {
      const work = (await pooler.transactions(databaseUrl)) - begun;
      await infrastructure.close();
      await pooler.close();
      if (work === 0) throw new Error('nothing went through the pooler');
    },
  };
}
