import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The names of metrics in a file of docker/: in alert rules, or in a dashboard. */
export function metricsIn(file: string): readonly string[] {
  const text = readFileSync(join(__dirname, '../../docker', file), 'utf8');
  const names = /\b(?:adoption_store|clock|db_client|dependency|haproxy|http_server|nodejs|process)_\w+/g;
  return [...new Set(Array.from(text.matchAll(names), ([name]) => name))];
}
