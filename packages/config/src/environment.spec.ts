import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { ConfigError, readSettings } from './environment.js';
import { apiSettings } from './settings.js';

const faultsOf = (environment: Record<string, string>) => {
  try {
    readSettings(apiSettings, environment);
    return [];
  } catch (error) {
    return error instanceof ConfigError ? error.faults : [String(error)];
  }
};

describe('settings', () => {
  it('have values where the environment says nothing', () => {
    const settings = readSettings(apiSettings, {});
    expect(settings).toMatchObject({ PORT: 3000, HOST: 'localhost', LOG_LEVEL: 'info', DATABASE_URL: undefined });
    expect(settings.DATA_DIR).toMatch(/\/\.data$/);
  });

  it('take an empty variable for none', () => {
    expect(readSettings(apiSettings, { PORT: '', DATABASE_URL: '' })).toMatchObject({
      PORT: 3000,
      DATABASE_URL: undefined,
    });
  });

  it('tell every fault at once and repeat no value', () => {
    const faults = faultsOf({ PORT: 'secret', LOG_LEVEL: 'secret', DATABASE_URL: 'secret' });
    expect(faults).toHaveLength(3);
    expect(faults.join()).not.toContain('secret');
  });

  it.each([
    ['PORT', ['0', '65535'], ['-1', '65536', '1.5', '80a', ' 80']],
    ['HOST', ['localhost', '0.0.0.0', '::', 'api.example.com'], ['a b', 'http://x', '-x', 'x'.repeat(254)]],
    ['LOG_LEVEL', ['debug', 'silent'], ['INFO', 'loud']],
    ['DATABASE_URL', ['postgres://a:b@c/d', 'postgresql:///d?host=/tmp'], ['mysql://x', 'x', 'postgres://a b']],
    ['DATABASE_POOL_SIZE', ['1', '1000'], ['0', '1001']],
    ['REDIS_URL', ['redis://h:6379/1', 'rediss://u:p@h'], ['http://h', 'h:6379']],
    [
      'TRUST_PROXY',
      ['10.0.0.0/8', '::1, 127.0.0.1', 'fd00::/8'],
      ['10.0.0.0/33', 'loopback', '10.0.0', '1.2.3.4/8/8', ','],
    ],
    ['ADDRESS_LIMIT', ['1'], ['0', '-1']],
    ['BAN_REFUSALS', ['1'], ['0']],
    ['BAN_SECONDS', ['86400'], ['0', '86401']],
    ['BAN_SECONDS_MAX', ['86400'], ['0', '86401']],
    ['KEY_ENVIRONMENT', ['live', 'staging'], ['production']],
    [
      'PUBLIC_URL',
      ['https://api.example.com', 'http://localhost:3000/store/'],
      ['api.example.com', 'ftp://x', 'https://x?y', 'https://u@x'],
    ],
  ])('%s takes what fits and refuses the rest by name', (name, fitting, unfit) => {
    for (const value of fitting) expect(faultsOf({ [name]: value })).toEqual([]);
    for (const value of unfit) expect(faultsOf({ [name]: value })).toEqual([expect.stringMatching(`^${name} must be`)]);
  });

  const file = (name: string) => readFileSync(join(__dirname, '../../..', name), 'utf8');
  const rows = Object.entries(apiSettings).map(([name, setting]) => ({
    name,
    standard: setting.default ?? '',
    ...setting,
  }));

  it.each(rows)('$name stands in .env.example with its default', ({ name, standard }) => {
    expect(file('.env.example')).toContain(`\n# ${name}=${standard}\n`);
  });

  it.each(rows)('$name stands in the README with its default and meaning', ({ name, standard, about }) => {
    expect(file('README.md').replace(/ +/g, ' ')).toContain(
      `| \`${name}\` | ${standard && `\`${standard}\``} | ${about} |`.replace(/ +/g, ' '),
    );
  });
});
