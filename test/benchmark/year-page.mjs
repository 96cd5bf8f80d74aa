/** Targets: the longest start, the most memory after it, and the highest ratio of an operation's 95th percentiles. */
const MOST_START = 3_000;
const MOST_MEMORY = 200;
const MOST_RATIO = 1.5;

/** Renders the parts of results.md on the database of a large store after a year. */
export function renderYear(run, { about, judged, table }) {
  const { rows, starts, operations, jobs } = run.figures;
  return [
    '## After a year',
    '',
    `${about(run)}, Node.js ${run.node}. The database has ${number(rows.accounts)} accounts, each active today, with a key, an order, a message and an idempotency record each, and ${number(rows.animals)} animals. A start ends with the line that says it is ready, a command with its first line of output; the memory of a command is its most until its end.`,
    '',
    ...table(
      ['Process', 'ms', 'Most memory (RSS), MB'],
      Object.entries(starts).map(([name, { ms, 'peak MB': peak }]) => [
        name,
        judged(ms, { most: MOST_START }),
        judged(peak, { most: MOST_MEMORY }),
      ]),
    ),
    'The 95th percentile at 32 connections, and its ratio to that of a new store with 60,000 animals, loaded in turns:',
    '',
    ...table(
      ['Operation or page', 'ms', 'ms, new', 'Ratio', 'Failed'],
      Object.entries(operations).map(([name, { ratio, failed, ...of }]) => [
        ...[name, of['year, p95 ms'], of['new, p95 ms']],
        judged(ratio, { most: MOST_RATIO }),
        judged(failed, { most: 0 }),
      ]),
    ),
    'The worker’s periodic jobs three days later, when most rows have expired at once:',
    '',
    ...table(
      ['Job', 'Rows', 'ms', 'Share of its period'],
      Object.entries(jobs).map(([name, { rows: done, ms, 'of its period': share }]) => [
        ...[name, number(done), number(ms)],
        judged(share, { most: 1 }),
      ]),
    ),
  ];
}

export function renderHour(run, { about, table }) {
  const { minutes, rate, keys, processes, runs, remark } = run.figures;
  const names = Object.keys(runs);
  const curves = Object.keys(runs[names[0]].curves);
  const verdict = ({ middle, 'growth an hour': growth, verdict: judgement }) => [
    middle,
    growth,
    judgement === 'flat' ? judgement : `**${judgement}**`,
  ];
  return [
    '## An hour on that database',
    '',
    `${about(run)}, Node.js ${run.node}. ${minutes} minutes of the mix, with messages and \`Idempotency-Key\`s, at ${rate} requests/s of ${number(keys)} keys on ${processes} processes and a worker; both runs at the same time. ${names.map((name) => `${name}: ${number(runs[name].sent)} requests, of which ${runs[name]['failed at first']} failed in the first ten minutes and ${runs[name]['failed later']} later, and ${number(runs[name].late)} took over 2 s`).join('; ')}. The growth is a share of the middle, after ten minutes; a curve is flat if it grows by less than a tenth, or by less than its interquartile range.${remark === undefined ? '' : ` ${remark}`}`,
    '',
    '![Sizes, dead rows, HOT updates and memory](hour.svg)',
    '',
    ...table(
      ['', ...names.flatMap((name) => [`Median ${name}`, 'Growth per hour', 'Verdict'])],
      curves.map((curve) => [curve, ...names.flatMap((name) => verdict(runs[name].curves[curve]))]),
    ),
  ];
}

function number(value) {
  return value.toLocaleString('en');
}
