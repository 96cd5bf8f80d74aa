// Generates the PrometheusRule of the Prometheus Operator from the alert rules: docker/kubernetes/monitoring/prometheus-rule.yaml,
// or the file that is given.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = join(import.meta.dirname, '../../docker');
const rules = readFileSync(join(folder, 'prometheus/alerts.yml'), 'utf8');
const groups = rules.slice(rules.indexOf('groups:')).trimEnd().split('\n');
const spec = groups.map((line) => (line === '' ? '' : `  ${line}`));
const object = `# Generated from docker/prometheus/alerts.yml: node packages/tooling/prometheus-rule.js
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: adoption-store
spec:
${spec.join('\n')}
`;
writeFileSync(process.argv[2] ?? join(folder, 'kubernetes/monitoring/prometheus-rule.yaml'), object);
