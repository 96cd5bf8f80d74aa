/** What was set out for it: the least ratios of our rate to the expert's, by workload at 1, 32 and 256 connections. */
const LEAST = {
  'list 20': { 1: 0.95, 32: 2.5, 256: 2.6 },
  'mixed lists': { 32: 3, 256: 3 },
  'by id': { 1: 0.85, 32: 1.8, 256: 2 },
  POST: { 1: 0.9, 32: 1.7, 256: 2.2 },
  mix: { 32: 1.4, 256: 2 },
};
/** The longest of our p99, of the expert's. */
const MOST_P99 = { 256: 0.8 };
/** Ratios to the other peers, by connections; the one without takes them all. */
const LEAST_OF_OTHERS = { 'typical, throttled': { 32: 8 } };
const LEAST_WITH_REDIS = 0.75;
const LEAST_WITH_MANY = 0.95;
const MOST_START_UP = 1_500;
const MOST_MEMORY = 160;

/** results.md, of results.json. */
export function render({ throughput = {}, limiter, growth, soak }) {
  const versions = Object.keys(throughput).sort((one, other) => Number.parseInt(one) - Number.parseInt(other));
  return [
    '# What was measured',
    '',
    '`npm run bench -- throughput --write` (and `limiter`, `growth --huge`, `soak --minutes 20`) writes this page and',
    'results.json; `npm run bench -- --check` fails where a ratio has fallen below 0.8 of it. Services are loaded in turns,',
    'on one machine with PostgreSQL and what loads them, each once the one before has come to rest; a ratio is the middle',
    'of those between neighbouring windows. A window is measured again where the host of a virtual machine has taken more',
    'than 2 % of its processors’ time. Each has its default settings but for the access log, which is off. A **bold**',
    'figure misses what was set out for it.',
    '',
    '- **expert**: Fastify and pg by hand, [expert.mjs](peers/expert.mjs); **sharing**: with queries shared as ours are',
    '- **typical**: Nest on Express with TypeORM by the book, [typical.ts](peers/typical.ts); **throttled**: and its throttler',
    '',
    ...versions.flatMap((version) => renderNode(version, throughput[version])),
    ...(limiter === undefined ? [] : renderLimiter(limiter)),
    ...(growth === undefined ? [] : renderGrowth(growth)),
    ...(soak === undefined ? [] : renderSoak(soak)),
  ].join('\n');
}

function renderNode(version, run) {
  const { loads, memory, startUp, postgres } = run;
  const rows = Object.entries(loads).flatMap(([workload, byConnections]) =>
    Object.entries(byConnections).map(([connections, of]) => ({ workload, connections, of })),
  );
  const peers = Object.keys(rows[0]?.of ?? {}).filter((name) => name !== 'ours');
  const ratios = rows.map(({ workload, connections, of }) => [
    workload,
    connections,
    ...peers.map((peer) => judged(of[peer].ratio, { least: leastOf(peer, workload, connections) })),
    of.expert === undefined ? '' : judged(of.expert['p99 ratio'], { most: MOST_P99[connections] }),
  ]);
  const each = rows.flatMap(({ workload, connections, of }) =>
    Object.entries(of).map(([name, { rate, p50, p99, cpu, windows = [] }]) => [
      ...[workload, connections, name],
      ...[Math.round(rate), windows.join(' '), p50, p99, Math.round(cpu)],
    ]),
  );
  return [
    `## Throughput on Node.js ${version}`,
    '',
    `${about(run)}, PostgreSQL ${postgres}. Our rate to each peer's, and our p99 to the expert's:`,
    '',
    ...table(['Workload', 'Connections', ...peers.map((peer) => `÷ ${peer}`), 'p99 ÷ expert'], ratios),
    ...[...renderStarts(startUp), ...renderMemory(memory)],
    '<details><summary>Each service by itself</summary>',
    '',
    ...table(
      ['Workload', 'Connections', 'Service', 'A second', 'In each window', 'p50 ms', 'p99 ms', 'CPU µs each'],
      each,
    ),
    '</details>',
    '',
  ];
}

function leastOf(peer, workload, connections) {
  if (peer === 'expert') return LEAST[workload]?.[connections];
  const least = LEAST_OF_OTHERS[peer];
  return typeof least === 'number' ? least : least?.[connections];
}

function renderStarts(startUp) {
  if (startUp === undefined) return [];
  const { ours, ...others } = startUp;
  const row = ['Start to the first answer, ms', judged(ours, { most: MOST_START_UP }), ...Object.values(others)];
  return table(['', 'ours', ...Object.keys(others)], [row]);
}

function renderMemory({ ours, ...others }) {
  return table(
    ['', 'ours', ...Object.keys(others)],
    [['Most memory (RSS) under load, MB', judged(ours, { most: MOST_MEMORY }), ...Object.values(others)]],
  );
}

function renderLimiter(run) {
  const rows = Object.entries(run.figures).map(([name, { rate, p50, p99, cpu, ...ratios }]) => [
    ...[...name.split('; '), Math.round(rate), p50, p99, Math.round(cpu)],
    name.endsWith('Redis') ? judged(ratios['to in process'], { least: LEAST_WITH_REDIS }) : '',
    'to one key' in ratios
      ? judged(ratios['to one key'], { least: name.includes('expert') ? undefined : LEAST_WITH_MANY })
      : '',
  ]);
  const figures = ['A second', 'p50 ms', 'p99 ms', 'CPU µs each', '÷ in process', '÷ one key'];
  const head = ['Workload', 'Connections', 'Counted in', ...figures];
  return [
    '## Limiter',
    '',
    `${about(run)}, Node.js ${run.node}. With the key of one account, or of as many as it says; Redis is asked about each request of those that may send but 16,000 a minute. What is said of 1,000 accounts is of three times as many windows, each after a second of the same that is not counted, as keys that have not come for a while are looked up first:`,
    '',
    ...table(head, rows),
  ];
}

function renderGrowth(run) {
  const rows = Object.entries(run.figures).flatMap(([animals, kinds]) =>
    Object.entries(kinds).map(([kind, figures]) => [
      Number(animals).toLocaleString('en'),
      kind,
      ...Object.values(figures),
    ]),
  );
  const head = ['Animals', 'Read', 'PostgreSQL ms', 'Pages touched', 'p50 ms', 'p99 ms'];
  const how =
    'Pages of 100, deep ones from the middle on; PostgreSQL by EXPLAIN ANALYZE, the rest over HTTP by one client:';
  return ['## Growth', '', `${about(run)}, Node.js ${run.node}. ${how}`, '', ...table(head, rows)];
}

function renderSoak(run) {
  const { minutes, memory } = run.figures;
  const rows = Object.entries(memory).map(([name, { verdict, ...figures }]) => [
    ...[name, ...Object.values(figures)],
    verdict === 'flat' ? verdict : `**${verdict}**`,
  ]);
  const how = `${minutes} minutes of the mix at 32 connections, ${run.figures['a second']} requests a second:`;
  const head = ['', 'Least', 'Middle', 'Most', 'Growth a minute', 'Verdict'];
  return ['## Soak', '', `${about(run)}, Node.js ${run.node}. ${how}`, '', ...table(head, rows)];
}

function about({ date, machine, windows, seconds }) {
  const { cores, processor, memory, load } = machine;
  return `${date}, ${cores} cores (${processor}), ${memory}, ${load}, ${windows} windows of ${seconds} s`;
}

function judged(value, { least = -Infinity, most = Infinity }) {
  return value < least || value > most ? `**${value}**` : String(value);
}

function table(head, rows) {
  return [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).concat('');
}
