import { at, readYaml, treesAt } from './deployment.js';

/** Each alert that no test makes fire, or that no test finds quiet, a sentence each. */
export function untestedAlerts(rulesFile: string, testsFile: string): string[] {
  const rules = treesAt(readYaml(rulesFile), 'groups').flatMap((group) => treesAt(group, 'rules'));
  const tests = treesAt(readYaml(testsFile), 'tests').flatMap((test) => treesAt(test, 'alert_rule_test'));
  return rules
    .flatMap(({ alert }) => (typeof alert === 'string' ? alert : []))
    .flatMap((alert) => {
      const expected = tests
        .filter(({ alertname }) => alertname === alert)
        .map((test) => at(test, 'exp_alerts.length'));
      return [
        ...(expected.some((count) => Number(count ?? 0) > 0) ? [] : [`${alert}: no test makes it fire`]),
        ...(expected.some((count) => Number(count ?? 0) === 0) ? [] : [`${alert}: no test finds it quiet`]),
      ];
    });
}
