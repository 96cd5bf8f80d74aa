import { readFileSync } from 'node:fs';
import { parser } from '@prometheus-io/lezer-promql';
import { parse } from 'yaml';

/** What Grafana puts into an expression before Prometheus sees it. */
const GRAFANA = /\$__rate_interval/g;

/** The names of the metrics an expression asks for. @throws Error where it isn't PromQL. */
export function metricsIn(expression: string): readonly string[] {
  const text = expression.replace(GRAFANA, '5m');
  const names: string[] = [];
  parser.parse(text).iterate({
    enter({ name, node, type, from }) {
      if (type.isError) throw new Error(`not PromQL at ${from}: ${expression}`);
      if (name === 'VectorSelector') names.push(text.slice(node.from, node.firstChild?.to));
    },
  });
  return names;
}

/** Every expression of a Grafana dashboard. */
export function dashboardExpressions(file: string): readonly string[] {
  const { panels, templating } = JSON.parse(readFileSync(file, 'utf8')) as {
    readonly panels: readonly { readonly targets?: readonly { readonly expr: string }[] }[];
    readonly templating: { readonly list: readonly { readonly query: { readonly query: string } }[] };
  };
  const ofVariables = templating.list.map(({ query }) => /^label_values\((\w+),/.exec(query.query)?.[1] ?? query.query);
  return [...panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)), ...ofVariables];
}

/** Every expression of a file of Prometheus' rules. */
export function ruleExpressions(file: string): readonly string[] {
  const { groups } = parse(readFileSync(file, 'utf8')) as {
    readonly groups: readonly { readonly rules: readonly { readonly expr: string }[] }[];
  };
  return groups.flatMap(({ rules }) => rules.map(({ expr }) => expr));
}
