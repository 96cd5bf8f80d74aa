/** Seconds that `npm test` may take on two cores. */
export const BUDGET = 300;

/** Each workspace's share of them, in seconds. */
export const shares = {
  '@adoption-store/api': 60,
  '@adoption-store/cli': 25,
  '@adoption-store/client': 8,
  '@adoption-store/config': 4,
  '@adoption-store/domain': 12,
  '@adoption-store/embedded-postgres': 12,
  '@adoption-store/infrastructure': 45,
  '@adoption-store/portal': 45,
  '@adoption-store/telemetry': 4,
  '@adoption-store/test-support': 5,
  '@adoption-store/tests': 110,
  '@adoption-store/tooling': 4,
  '@adoption-store/web': 4,
  '@adoption-store/worker': 25,
};

/** A workspace fails at so many times its share: what else a machine does may slow some suites more than others. */
const TOLERANCE = 2;

/** The workspaces whose tests took too long, a sentence each. A machine that is slow for all of them is no reason. */
export function overShare(runs) {
  const total = runs.reduce((sum, { seconds }) => sum + seconds, 0);
  const slowness = Math.max(1, total / BUDGET);
  return runs
    .filter(({ workspace, seconds }) => seconds > (shares[workspace] ?? 0) * TOLERANCE * slowness)
    .map(
      ({ workspace, seconds }) =>
        `${workspace}: its tests took ${Math.round(seconds)} s of ${Math.round(total)} s in all; its share is ` +
        `${shares[workspace] ?? 0} s of ${BUDGET} s (packages/tooling/test-shares.js)`,
    );
}
