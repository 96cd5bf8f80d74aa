import { renderHour, renderYear } from './year-page.mjs';

/** Targets: the lowest ratios of our rate to the expert's, by workload and connections. */
const LEAST = {
  'list 20': { 1: 0.95, 32: 2.5, 256: 2.6 },
  'mixed lists': { 32: 3, 256: 3 },
  'by id': { 1: 0.85, 32: 1.8, 256: 2 },
  POST: { 1: 0.9, 32: 1.7, 256: 2.2 },
  mix: { 32: 1.4, 256: 2 },
};
/** Targets: the highest ratios of our p99 to the expert's, by connections. */
const MOST_P99 = { 256: 0.8 };
/** Targets for the other peers, by connections. */
const LEAST_OF_OTHERS = { 'typical, throttled': { 32: 8 } };
const LEAST_WITH_REDIS = 0.75;
const LEAST_WITH_MANY = 0.95;
/** Target: the lowest ratio of the rate behind a pooler to the rate without one. */
const LEAST_POOLED = 0.85;
const MOST_START_UP = 1_500;
const MOST_MEMORY = 160;

const TOOLS = { about, judged, table };

/** Renders results.md from results.json. */
export function render({ throughput = {}, limiter, processes, growth, soak, pooler, year, hour }) {
  const versions = Object.keys(throughput).sort((one, other) => Number.parseInt(one) - Number.parseInt(other));
  return [
    ...introduction,
    ...versions.flatMap((version) => renderLosses(version, throughput[version])),
    ...versions.flatMap((version) => renderNode(version, throughput[version])),
    ...(limiter === undefined ? [] : renderLimiter(limiter)),
    ...(processes === undefined ? [] : renderProcesses(processes)),
    ...(growth === undefined ? [] : renderGrowth(growth)),
    ...(soak === undefined ? [] : renderSoak(soak)),
    ...(pooler === undefined ? [] : renderPooler(pooler)),
    ...(year === undefined ? [] : renderYear(year, TOOLS)),
    ...(hour === undefined ? [] : renderHour(hour, TOOLS)),
  ].join('\n');
}

const introduction = [
  '# Benchmark results',
  '',
  '## What was compared',
  '',
  'The API (**ours**) was measured against three services that serve the same lists, reads and additions of animals:',
  '',
  '- **expert**: Fastify and pg, written by hand for speed: only the catalogue, keys and counters in its memory, integers',
  '  as doubles ([expert.mjs](peers/expert.mjs)). **sharing** is the same service with shared queries, as in the API.',
  '- **typical**: Nest on Express with TypeORM, as their documentation shows it ([typical.ts](peers/typical.ts)).',
  '  **throttled** adds Nest’s throttler.',
  '',
  '**Conditions.** Each service is one process with 10 pooled connections to the same PostgreSQL. PostgreSQL has its',
  'default settings, `fsync` included, and `max_connections=100`. Each service has its default settings, but the access',
  'log is off. The service, PostgreSQL and the load generator share one machine; each section names it.',
  '',
  '**Workloads**, on 10,000 animals and with one key that no limit stops:',
  '',
  '- **list 20**: the first page of 20. **list 100**: the first page of 100 available animals.',
  '- **by id**: one animal at random. **POST**: adds an animal.',
  '- **mix**: 40 % list 20, 20 % a list of 50 by status, 30 % by id, 10 % POST.',
  '- **mixed lists**: twenty different lists. **deep page**: pages from the middle of a million animals.',
  '',
  '**Method.** The services are loaded in turns, each after the previous one is idle again. A ratio is the median of the',
  'ratios between neighbouring windows. A window is repeated if the host of a virtual machine took more than 2 % of its',
  'CPU time. A figure in **bold** misses its target.',
  '',
  '`npm run bench -- throughput --write` (and `limiter`, `processes`, `growth --huge`, `soak --minutes 20`, `pooler`, `year`, `hour --minutes 60`) writes this page and',
  'results.json. `npm run bench -- --check` fails if a ratio falls below 0.8 of the one here.',
  '',
];

/** The comparisons in which another service is better. */
function renderLosses(version, { loads, memory, startUp }) {
  const rows = Object.entries(loads).flatMap(([workload, byConnections]) =>
    Object.entries(byConnections).map(([connections, of]) => ({ name: `${workload}, ${connections} connections`, of })),
  );
  const rates = rows.flatMap(({ name, of }) =>
    Object.entries(of)
      .filter(([, { ratio }]) => ratio < 1)
      .map(([peer, { ratio }]) => `- ${name}: ${ratio} of the rate of ${peer}.`),
  );
  const latencies = rows
    .filter(({ of }) => of.expert?.['p99 ratio'] > 1)
    .map(({ name, of }) => `- ${name}: the p99 is ${of.expert['p99 ratio']} times the p99 of expert.`);
  return [
    `## Where we lose on Node.js ${version}`,
    '',
    ...[
      ...rates,
      ...latencies,
      ...larger('Start to the first response', 'ms', startUp),
      ...larger('Memory', 'MB', memory),
    ],
    '',
  ];
}

function larger(name, unit, { ours, ...others } = {}) {
  return Object.entries(others)
    .filter(([, theirs]) => ours > theirs)
    .map(([peer, theirs]) => `- ${name}: ${ours} ${unit}, ${peer} ${theirs} ${unit}.`);
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
    `${about(run)}, PostgreSQL ${postgres}. Our rate divided by each peer’s rate, and our p99 by the expert’s:`,
    '',
    ...table(['Workload', 'Connections', ...peers.map((peer) => `÷ ${peer}`), 'p99 ÷ expert'], ratios),
    ...[...renderStarts(startUp), ...renderMemory(memory)],
    '<details><summary>Figures of each service</summary>',
    '',
    ...table(
      [
        'Workload',
        'Connections',
        'Service',
        'Requests/s',
        'Requests/s in each window',
        'p50 ms',
        'p99 ms',
        'CPU µs per request',
      ],
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
  const row = ['Start to the first response, ms', judged(ours, { most: MOST_START_UP }), ...Object.values(others)];
  return table(['', 'ours', ...Object.keys(others)], [row]);
}

function renderMemory({ ours, ...others }) {
  return table(
    ['', 'ours', ...Object.keys(others)],
    [['Highest memory use (RSS) under load, MB', judged(ours, { most: MOST_MEMORY }), ...Object.values(others)]],
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
  const figures = ['Requests/s', 'p50 ms', 'p99 ms', 'CPU µs per request', '÷ in process', '÷ one key'];
  const head = ['Workload', 'Connections', 'Counted in', ...figures];
  return [
    '## Limiter',
    '',
    `${about(run)}, Node.js ${run.node}. The requests use the key of one account, or the keys of 1,000 accounts. Accounts with 16,000 requests a minute are so close to their limit that Redis is asked about each request. Rows with 1,000 accounts have three times as many windows, each after one second that is not counted, because the first request of a key looks the key up:`,
    '',
    ...table(head, rows),
  ];
}

function renderProcesses(run) {
  const rows = Object.entries(run.figures).map(([name, { rate, p50, p99, cpu, ...others }]) => [
    ...[...name.split('; '), Math.round(rate), others['to one'] ?? '', p50, p99, Math.round(cpu)],
    ...[Math.round(others['PostgreSQL cpu']), others['Redis cpu'] === undefined ? '' : Math.round(others['Redis cpu'])],
    Math.round(others['transactions for 1,000 requests']),
  ]);
  const cpus = ['CPU µs per request', 'of PostgreSQL', 'of Redis'];
  const head = [
    'Workload',
    'Connections',
    'Shared counts',
    'Processes',
    'Requests/s',
    '÷ one process',
    'p50 ms',
    'p99 ms',
  ];
  const how =
    'Processes of the API that share one PostgreSQL, with a pool of 5 each. The load generator sends to each of them. With one connection no two requests share a query. Transactions are those of PostgreSQL for 1,000 requests:';
  return [
    ...['## Processes', '', `${about(run)}, Node.js ${run.node}. ${how}`, ''],
    ...table([...head, ...cpus, 'Transactions'], rows),
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
  const head = ['Animals', 'Read', 'PostgreSQL ms', 'Pages read', 'p50 ms', 'p99 ms'];
  const how =
    'Pages of 100; deep pages begin in the middle. PostgreSQL’s figures are from EXPLAIN ANALYZE, the others from one HTTP client:';
  return ['## Growth', '', `${about(run)}, Node.js ${run.node}. ${how}`, '', ...table(head, rows)];
}

function renderSoak(run) {
  const { minutes, memory } = run.figures;
  const rows = Object.entries(memory).map(([name, { verdict, ...figures }]) => [
    ...[name, ...Object.values(figures)],
    verdict === 'flat' ? verdict : `**${verdict}**`,
  ]);
  const how = `${minutes} minutes of the mix at 32 connections, ${run.figures['a second']} requests/s:`;
  const head = ['', 'Lowest', 'Median', 'Highest', 'Growth per minute', 'Verdict'];
  return ['## Soak', '', `${about(run)}, Node.js ${run.node}. ${how}`, '', ...table(head, rows)];
}

function renderPooler(run) {
  const { pgbouncer, postgres, loads } = run.figures;
  const rows = Object.entries(loads).map(([workload, { direct, pooled }]) => [
    ...[workload, Math.round(direct.rate), Math.round(pooled.rate)],
    ...[judged(pooled.ratio, { least: LEAST_POOLED }), pooled['p99 ratio']],
    ...[Math.round(direct.cpu), Math.round(pooled.cpu)],
  ]);
  const how = `PostgreSQL ${postgres}, PgBouncer ${pgbouncer} in transaction mode, with the settings of [pooler.md](../../docker/pooler.md). Two processes of the API in turns at 32 connections, one of them behind PgBouncer; the processor time is that of the API alone:`;
  const figures = ['Rate ÷ direct', 'p99 ÷ direct', 'CPU µs per request, direct', 'CPU µs, pooled'];
  return [
    '## Behind a pooler',
    '',
    `${about(run)}, Node.js ${run.node}, ${how}`,
    '',
    ...table(['Workload', 'Direct, requests/s', 'Pooled, requests/s', ...figures], rows),
  ];
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
