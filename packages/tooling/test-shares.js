/** Seconds that `npm test` may take on two cores. */
export const BUDGET = 300;

/** Each workspace's share of them, in seconds. */
export const shares = {
  '@adoption-store/api': 60,
  '@adoption-store/cli': 20,
  '@adoption-store/client': 8,
  '@adoption-store/config': 3,
  '@adoption-store/domain': 10,
  '@adoption-store/embedded-postgres': 8,
  '@adoption-store/infrastructure': 45,
  '@adoption-store/portal': 40,
  '@adoption-store/telemetry': 3,
  '@adoption-store/test-support': 4,
  '@adoption-store/tests': 85,
  '@adoption-store/worker': 14,
};

/** A workspace fails at so many times its share: what else a machine does may slow some suites more than others. */
const TOLERANCE = 2;

/** The workspaces whose tests took too long, a sentence each. A machine on which the others are slow, too, is no reason. */
export function overShare(runs) {
  return runs
    .filter(({ workspace, seconds }) => {
      const others = runs.filter((run) => run.workspace !== workspace);
      const slowness = Math.max(1, sum(others.map((run) => run.seconds)) / sum(others.map(shareOf)));
      return seconds > shareOf({ workspace }) * TOLERANCE * slowness;
    })
    .map(({ workspace, seconds }) => {
      const share = `its share is ${shareOf({ workspace })} s of ${BUDGET} s (packages/tooling/test-shares.js)`;
      return `${workspace}: its tests took ${Math.round(seconds)} s; ${share}`;
    });
}

function shareOf({ workspace }) {
  return shares[workspace] ?? 0;
}

function sum(numbers) {
  return numbers.reduce((total, number) => total + number, 0);
}
