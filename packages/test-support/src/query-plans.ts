import pg from 'pg';
import { privileged } from './database.js';

/** A statement and the plan with which PostgreSQL ran it. */
export interface RunStatement {
  readonly text: string;
  readonly plan: PlanNode;
}

/** The fields of EXPLAIN's JSON that are used here. */
interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Index Recheck'?: number;
  readonly Plans?: readonly PlanNode[];
}

const SETTINGS = {
  session_preload_libraries: 'auto_explain',
  'auto_explain.log_min_duration': '0',
  'auto_explain.log_analyze': 'on',
  'auto_explain.log_timing': 'off',
  // Includes the statements of triggers and constraints.
  'auto_explain.log_nested_statements': 'on',
  'auto_explain.log_format': 'json',
  // The plan goes to the client instead of the server's log.
  'auto_explain.log_level': 'notice',
};

/** The URL of the same database whose connections report the plan of every statement. Only a superuser's can. */
export function explainingUrl(url: string): string {
  const options = Object.entries(SETTINGS).map(([name, value]) => `-c ${name}=${value}`);
  const address = privileged(url);
  return `${address}${address.includes('?') ? '&' : '?'}options=${encodeURIComponent(options.join(' '))}`;
}

/** Every statement that this process sends to an `explainingUrl` while `work` runs. */
export async function statementsDuring(work: () => Promise<unknown>): Promise<readonly RunStatement[]> {
  const statements: RunStatement[] = [];
  const client = pg.Client.prototype as { connect: (...parameters: unknown[]) => unknown };
  const { connect } = client;
  client.connect = function (this: pg.Client, ...parameters) {
    this.on('notice', ({ message = '' }) => {
      const json = /^duration: .* plan:\n(.*)$/s.exec(message)?.[1];
      if (json === undefined) return;
      const { 'Query Text': text, Plan: plan } = JSON.parse(json) as { 'Query Text': string; Plan: PlanNode };
      statements.push({ text, plan });
    });
    return connect.apply(this, parameters);
  };
  try {
    await work();
  } finally {
    client.connect = connect;
  }
  if (statements.length === 0) throw new Error('no statement was seen: connect during the work, with `explainingUrl`');
  return statements;
}

/**
 * The parts of a statement that get more expensive as one of `tables` grows: a full scan, reading more than `most` of
 * its rows, or sorting more than `most` rows.
 */
export function growingCosts(
  { text, plan }: RunStatement,
  tables: ReadonlySet<string>,
  most: number,
): readonly string[] {
  const costs: string[] = [];
  const look = (node: PlanNode) => {
    const { 'Node Type': type, 'Relation Name': table = '', Plans: inner = [] } = node;
    if (tables.has(table) && type === 'Seq Scan') costs.push(`reads all of ${table}`);
    else if (tables.has(table) && rowsRead(node) > most) costs.push(`reads ${rowsRead(node)} rows of ${table}`);
    const sorted = type.endsWith('Sort') ? inner.reduce((sum, each) => sum + rowsRead(each), 0) : 0;
    if (sorted > most) costs.push(`sorts ${sorted} rows`);
    inner.forEach(look);
  };
  look(plan);
  return costs.map((cost) => `${cost}: ${text.replace(/\s+/g, ' ').trim()}`);
}

/** Rows that a node read, including those it filtered out. PostgreSQL reports the mean per loop. */
function rowsRead(node: PlanNode): number {
  const unwanted = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0);
  return Math.round((node['Actual Rows'] + unwanted) * node['Actual Loops']);
}
