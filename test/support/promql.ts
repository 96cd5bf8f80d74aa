import { readFileSync } from 'node:fs';
import { parser } from '@prometheus-io/lezer-promql';
import { parse } from 'yaml';

/** Grafana replaces this variable before Prometheus sees the expression. */
const GRAFANA = /\$__rate_interval/g;

/** The names of the metrics in an expression. @throws Error if it isn't PromQL. */
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

/** Every expression of a Prometheus rules file. */
export function ruleExpressions(file: string): readonly string[] {
  const { groups } = parse(readFileSync(file, 'utf8')) as {
    readonly groups: readonly { readonly rules: readonly { readonly expr: string }[] }[];
  };
  return groups.flatMap(({ rules }) => rules.map(({ expr }) => expr));
}

/** Every expression of KEDA's autoscaler. */
export function autoscalerExpressions(file: string): readonly string[] {
  const { spec } = parse(readFileSync(file, 'utf8')) as {
    readonly spec: { readonly triggers: readonly { readonly metadata: { readonly query?: string } }[] };
  };
  return spec.triggers.flatMap(({ metadata }) => metadata.query ?? []);
}
