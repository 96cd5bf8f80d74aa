import { load } from './load.mjs';
import { undisturbed } from './undisturbed.mjs';

const number = (name, otherwise) => Number(process.env[name] ?? otherwise);
export const SECONDS = number('BENCH_SECONDS', 3);
export const WINDOWS = number('BENCH_WINDOWS', 5);

/**
 * Loads each of `kinds`, `{ service, requests }` by name, in turns, so that other work on the machine affects all of
 * them. Returns the results of each window. A ratio is between neighbours in time. `before` is the number of seconds
 * before each window that aren't counted. `loadOne` loads a service that is more than one process.
 */
export async function inTurns(
  kinds,
  { connections, seconds = SECONDS, windows = WINDOWS, before = 0, loadOne = load },
) {
  const results = Object.fromEntries(Object.keys(kinds).map((name) => [name, []]));
  for (let window = 0; window < windows; window++) {
    for (const [name, { service, requests }] of turned(Object.entries(kinds), window)) {
      if (before > 0) await loadOne(service, requests, { connections, seconds: before });
      results[name].push(await undisturbed(() => loadOne(service, requests, { connections, seconds })));
    }
  }
  return results;
}

/** Each window starts with another service, so that periodic disturbances affect all of them. */
function turned(entries, window) {
  const begin = window % entries.length;
  return [...entries.slice(begin), ...entries.slice(0, begin)];
}

/** The median of each figure over all windows. */
export function middles(results) {
  return Object.fromEntries(Object.keys(results[0]).map((field) => [field, round(median(results.map(of(field))))]));
}

/** The median of the ratios within each window. */
export function ratio(results, others, field = 'rate') {
  return round(median(results.map((each, window) => each[field] / others[window][field])), 3);
}

export function median(values) {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)];
}

/** The Theil–Sen estimator: the median slope between any two points, which garbage collections don't distort. */
export function slopeOf(points) {
  const slopes = points.flatMap(([x, y], index) =>
    points.slice(index + 1).map(([later, value]) => (value - y) / (later - x)),
  );
  return slopes.length === 0 ? 0 : median(slopes);
}

export function round(value, digits = 2) {
  return Number(value.toFixed(digits));
}

function of(field) {
  return (each) => each[field];
}
