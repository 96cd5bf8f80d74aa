/** Seconds that `npm test` may take on two cores. */
export const BUDGET = 300;

/** `npm test` runs so many workspaces at a time. */
export const AT_ONCE = 2;

/**
 * Each workspace's share of the budget, in seconds, while another one runs beside it. The shares have the proportions of a
 * run on a quiet machine of two cores, which took 1.3 times as long.
 */
export const shares = {
  '@adoption-store/api': 75,
  '@adoption-store/cli': 32,
  '@adoption-store/client': 12,
  '@adoption-store/config': 4,
  '@adoption-store/domain': 14,
  '@adoption-store/embedded-postgres': 40,
  '@adoption-store/infrastructure': 70,
  '@adoption-store/portal': 46,
  '@adoption-store/telemetry': 5,
  '@adoption-store/test-support': 16,
  '@adoption-store/tests': 252,
  '@adoption-store/worker': 34,
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
