import { load } from './load.mjs';

/**
 * Loads the kinds of each set, `[name, kinds]`, in turns, with each number of connections. Returns the rows that `rowsOf`
 * makes of the set's name, the number of connections and the results.
 */
export async function measureSets(sets, { connections, windows }, rowsOf) {
  const rows = [];
  for (const [name, kinds] of sets) {
    // Long enough for V8 to optimise each service's code, whatever the length of a window.
    await inTurns(kinds, { connections: 32, seconds: 5, windows: 1 });
    for (const count of connections) {
      const made = rowsOf(name, count, await inTurns(kinds, { connections: count, seconds: 1, windows }));
      for (const row of made) console.log(row.join(' | '));
      rows.push(...made);
    }
  }
  return rows;
}

/**
 * Loads each of `kinds`, `{ service, requests }` by name, in turns, window by window, so that other work on the machine
 * affects all of them. Returns the figures of each window.
 */
async function inTurns(kinds, { connections, seconds, windows }) {
  const results = Object.fromEntries(Object.keys(kinds).map((name) => [name, []]));
  const turns = Object.entries(kinds);
  for (let window = 0; window < windows; window++) {
    for (const [name, { service, requests }] of turns) {
      results[name].push(await load(service, requests, { connections, seconds }));
    }
    // Each round begins with another service, so that periodic disturbances affect all of them.
    turns.push(turns.shift());
  }
  return results;
}

/** The median of one figure over all windows. */
export function middle(results, field) {
  return median(results.map((each) => each[field]));
}

/** The median of the ratios between windows that are neighbours in time. */
export function ratio(results, others, field = 'rate') {
  return median(results.map((each, window) => each[field] / others[window][field]));
}

export function median(values) {
  const sorted = values.toSorted((one, other) => one - other);
  const half = sorted.length >> 1;
  return sorted.length % 2 === 0 ? (sorted[half - 1] + sorted[half]) / 2 : sorted[half];
}
