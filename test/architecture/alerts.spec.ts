import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { folderOf } from '@adoption-store/test-support';
import { untestedAlerts } from './alerts.js';
import { fixtures, repository } from './trees.js';

const alerts = join(repository, 'docker/prometheus');
const bad = join(fixtures, 'alerts');

describe('the alerts', () => {
  const promtool = folderOf('alerts', 'prometheus', 'promtool');
  const itRuns = promtool === undefined ? it.skip : it;

  function check(folder: string, ...args: readonly string[]) {
    return spawnSync(join(promtool ?? '', 'promtool'), args, { cwd: folder, encoding: 'utf8' });
  }

  itRuns('are rules that Prometheus takes', () => {
    expect(check(alerts, 'check', 'rules', 'alerts.yml')).toMatchObject({ status: 0, stderr: '' });
  });

  itRuns('fire when they should, and only then', () => {
    expect(check(alerts, 'test', 'rules', 'alerts.test.yml')).toMatchObject({ status: 0, stderr: '' });
  });

  itRuns('would not pass where one fires that should not', () => {
    const { status, stderr, stdout } = check(bad, 'test', 'rules', 'failing.test.yml');
    expect(status).toBe(1);
    expect(stdout + stderr).toContain('alertname: Tested');
  });

  it('are each tested firing and quiet', () => {
    expect(untestedAlerts(join(alerts, 'alerts.yml'), join(alerts, 'alerts.test.yml'))).toEqual([]);
  });

  it('are told apart from ones that are tested by halves or not at all', () => {
    expect(untestedAlerts(join(bad, 'alerts.yml'), join(bad, 'alerts.test.yml'))).toEqual([
      'NeverFires: no test makes it fire',
      'NeverQuiet: no test finds it quiet',
      'Forgotten: no test makes it fire',
      'Forgotten: no test finds it quiet',
    ]);
  });
});
