/** Seconds that `npm test` may take on two cores. */
export const BUDGET = 300;

/** `npm test` runs so many workspaces at a time. */
export const AT_ONCE = 1;

/** Each workspace's share of the budget, in seconds. A run on a quiet machine of two cores took longer (DECISIONS.md). */
export const shares = {
  '@adoption-store/api': 32,
  '@adoption-store/cli': 15,
  '@adoption-store/client': 8,
  '@adoption-store/config': 2,
  '@adoption-store/domain': 5,
  '@adoption-store/embedded-postgres': 17,
  '@adoption-store/infrastructure': 34,
  '@adoption-store/portal': 26,
  '@adoption-store/telemetry': 2,
  '@adoption-store/test-support': 6,
  '@adoption-store/tests': 140,
  '@adoption-store/worker': 13,
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
      const share = `its share is ${shareOf({ workspace })} s (packages/tooling/test-shares.js)`;
      return `${workspace}: its tests took ${Math.round(seconds)} s; ${share}`;
    });
}

function shareOf({ workspace }) {
  return shares[workspace] ?? 0;
}

function sum(numbers) {
  return numbers.reduce((total, number) => total + number, 0);
}
