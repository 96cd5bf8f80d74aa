import { load } from './load.mjs';
import { undisturbed } from './undisturbed.mjs';

const number = (name, otherwise) => Number(process.env[name] ?? otherwise);
export const SECONDS = number('BENCH_SECONDS', 3);
export const WINDOWS = number('BENCH_WINDOWS', 3);

/**
 * Loads each of `kinds`, `{ service, requests }` by name, in turns, so that whatever else the machine does meets them all.
 * Gives what each window came to. A ratio is one between neighbours in time.
 */
export async function inTurns(kinds, { connections, seconds = SECONDS, windows = WINDOWS }) {
  const results = Object.fromEntries(Object.keys(kinds).map((name) => [name, []]));
  for (let window = 0; window < windows; window++) {
    for (const [name, { service, requests }] of turned(Object.entries(kinds), window)) {
      results[name].push(await undisturbed(() => load(service, requests, { connections, seconds })));
    }
  }
  return results;
}

/** Each window begins with another, so that whatever comes in waves meets them all. */
function turned(entries, window) {
  const begin = window % entries.length;
  return [...entries.slice(begin), ...entries.slice(0, begin)];
}

/** The middle of each figure over all windows. */
export function middles(results) {
  return Object.fromEntries(Object.keys(results[0]).map((field) => [field, round(median(results.map(of(field))))]));
}

/** The middle of the ratios within each window. */
export function ratio(results, others, field = 'rate') {
  return round(median(results.map((each, window) => each[field] / others[window][field])), 3);
}

export function median(values) {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)];
}

export function round(value, digits = 2) {
  return Number(value.toFixed(digits));
}

function of(field) {
  return (each) => each[field];
}
