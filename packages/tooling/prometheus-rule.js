// Generates the PrometheusRule of the Prometheus Operator from the alert rules: docker/kubernetes/monitoring/prometheus-rule.yaml.
import { readFileSync, writeFileSync } from 'node:fs';

const folder = new URL('../../docker/', import.meta.url);
const rules = readFileSync(new URL('prometheus/alerts.yml', folder), 'utf8');
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
writeFileSync(new URL('kubernetes/monitoring/prometheus-rule.yaml', folder), object);
