import { mkdirSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SCOPES } from '@adoption-store/domain';
import { describe, expect, it } from '@jest/globals';
import { ConfigError, readSettings } from './environment.js';
import { loadEnvFile } from './service.js';
import { apiSettings, portalSettings, workerSettings } from './settings.js';
import { envExample, settingsPage } from './settings-pages.js';

const settings = { ...apiSettings, ...portalSettings, ...workerSettings };

const faultsOf = (environment: Record<string, string>) => {
  try {
    readSettings(settings, environment);
    return [];
  } catch (error) {
    return error instanceof ConfigError ? error.faults : [String(error)];
  }
};

describe('settings', () => {
  it('have defaults', () => {
    const values = readSettings(settings, {});
    expect(values).toMatchObject({ PORT: 3000, HOST: 'localhost', LOG_LEVEL: 'info', DATABASE_URL: undefined });
    expect(values.DATA_DIR).toMatch(/\/\.data$/);
  });

  it('refuse control characters and what was no UTF-8, whichever setting they are in', () => {
    for (const name of Object.keys(settings)) {
      expect(faultsOf({ [name]: `${'x'.repeat(40)}\ufffd` })).toContain(`${name} must be UTF-8, and not have U+FFFD`);
      for (const value of ['https://api.example.com\n', '\tx', 'x\u0085', 'x'.repeat(40) + '\u007f'])
        expect(faultsOf({ [name]: value })).toContain(`${name} must not have control characters`);
    }
  });

  it.each([
    ['PUBLIC_URL', ' https://API.Example.com:443/store/ ', 'https://api.example.com/store'],
    ['PUBLIC_URL', 'https://bücher.example/bücher', 'https://xn--bcher-kva.example/b%C3%BCcher'],
    ['CORS_ORIGINS', '*', '*'],
    ['CORS_ORIGINS', 'none', []],
    ['CORS_ORIGINS', 'https://A.example:443/, http://ü.x:80', ['https://a.example', 'http://xn--tda.x']],
    ['PORTAL_SECRET', `${'x'.repeat(32)}, ${'y'.repeat(33)}`, ['x'.repeat(32), 'y'.repeat(33)]],
    ['REDIS_URL', 'rediss://store:p%2C@h:1,i:2', ['rediss://store:p%2C@h:1', 'rediss://store:p%2C@i:2']],
    ['ORDER_TTL', '90s', 90_000],
    ['ORDER_TTL', '30m', 1_800_000],
    ['ORDER_TTL', '48h', 172_800_000],
    ['ORDER_TTL', '7d', 604_800_000],
    ['SUPPORT_CONTACT', 'https://example.com/a b', 'https://example.com/a%20b'],
    ['SUPPORT_CONTACT', 'Help@Bücher.example', 'help@xn--bcher-kva.example'],
    ['MAIL_FROM', 'Store@mail\u00ad.example\u3002com', 'store@mail.example.com'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'http://Collector:4318/ü', 'http://collector:4318/%C3%BC'],
  ] as const)('give %s as it was parsed', (name, text, value) => {
    expect(readSettings(settings, { [name]: text })[name]).toEqual(value);
  });

  it('let those who sign up manage animals only where the visitor is the operator, unless they are told otherwise', () => {
    const scopesWith = (environment: Record<string, string>) => readSettings(settings, environment).SIGNUP_SCOPES;
    const DATABASE_URL = 'postgres://a/b';
    expect(scopesWith({})).toBeUndefined();
    expect(scopesWith({ DATABASE_URL })).toEqual(SCOPES.filter((scope) => scope !== 'pets:manage'));
    expect(scopesWith({ DATABASE_URL: '' })).toBeUndefined();
    expect(scopesWith({ DATABASE_URL, SIGNUP_SCOPES: 'all' })).toBeUndefined();
    expect(scopesWith({ SIGNUP_SCOPES: 'pets:read' })).toEqual(['pets:read']);
  });

  it('treat an empty variable as not set', () => {
    expect(readSettings(settings, { PORT: '' }).PORT).toBe(3000);
  });

  it('report every fault at once, and never repeat a value', () => {
    const faults = faultsOf({ PORT: 'secret', LOG_LEVEL: 'secret', PORTAL_SECRET: 'secret' });
    expect(faults).toHaveLength(3);
    expect(faults.join()).not.toContain('secret');
  });

  it.each([
    ['PORT', ['0', '65535'], ['-1', '65536', '1.5', '80a', ' 80']],
    ['HOST', ['localhost', '::', 'api.example.com'], ['a b', 'http://x', '-x', 'x'.repeat(254), '256.1.1.1', '127.1']],
    ['LOG_LEVEL', ['debug', 'silent'], ['INFO', 'loud']],
    ['ORDER_TTL', ['1s', '30m', '48h', '365d'], ['0s', '366d', '48', '48 h', 'h', '1w', '-1s', '1.5s']],
    [
      'OTEL_EXPORTER_OTLP_ENDPOINT',
      ['http://collector:4318', 'https://x/y'],
      ['collector:4318', 'grpc://x', 'http://', 'http://a:b', 'http://x/v1/traces', 'http://x?y=1', 'http://x/#'],
    ],
    [
      'DATABASE_URL',
      ['postgresql:///d?host=/tmp', 'postgres://a:b,c@[::1]:5432/d?target_session_attrs=any'],
      ['mysql://x', 'postgres://a b', 'postgres://a:99999/d', 'postgres://u:p#w@a/d', 'postgres://a/d?port=x'],
    ],
    [
      'REDIS_URL',
      ['redis://h:6379/1', 'redis://h/?family=6', 'rediss://u:p@h', 'redis://:p@h:1,i:2, [::1]:3'],
      ['http://h', 'redis://:%p@h', 'redis://h,', 'redis://h/x', 'redis://h#x', 'redis://h/1,i', 'redis://:p@h,u:q@i'],
    ],
    [
      'TRUST_PROXY',
      ['10.0.0.0/8', '::1, 127.0.0.1', 'fd00::/8'],
      ['10.0.0.0/33', 'loopback', '10.0.0', '1.2.3.4/8/8', ',', '0.0.0.0/0', '::1, ::/0', '::/00'],
    ],
    ['WEBHOOK_ALLOW', ['127.0.0.1, fd00::/8', '0.0.0.0/0'], ['fd00::/129', 'hooks.example', '*', '010.1.0.0/16']],
    [
      'CORS_ORIGINS',
      ['*', 'none', 'https://shop.example.com', 'https://a.example, http://localhost:5173/'],
      ['any', 'ftp://a', 'https://a/b', 'https://a?', 'https://u@a', 'https://*.a', 'https://a,', '*,https://a'],
    ],
    [
      'PUBLIC_URL',
      ['https://api.example.com', 'http://localhost:3000/store/', 'https://x/store/v10'],
      ['api.example.com', 'ftp://x', 'https://x?y', 'https://u@x', 'https://:p@x', 'http://x/v1', 'http://x/V1//'],
    ],
    ['PORTAL_URL', ['http://localhost:3001/'], ['portal.example.com', 'https://x?y', 'https://example.com/portal']],
    [
      'PORTAL_SECRET',
      ['x'.repeat(32), `${'x'.repeat(32)}, ${'y'.repeat(32)}`],
      ['x'.repeat(31), `${'x'.repeat(32)},`, `${'x'.repeat(16)},${'y'.repeat(16)}`],
    ],
    [
      'SUPPORT_CONTACT',
      ['help@example.com', 'https://example.com/help'],
      ['help', 'http://example.com', 'javascript:alert(1)', 'Help <help@example.com>'],
    ],
    [
      'SIGNUP_SCOPES',
      ['all', 'pets:read', 'orders:write, pets:read'],
      ['none', 'pets', 'pets:delete', 'pets:read,', 'pets:read,pets:read', 'all,pets:read'],
    ],
    [
      'MAIL_FROM',
      ['a@b'],
      ['a', 'a@b@c', 'a@b, c@d', 'A <a@b>', '"a"@b', 'a@b.', 'a@127.1', 'a\u200b@b', 'a@[127.0.0.1]'],
    ],
  ])('%s accepts valid values, and refuses others by name', (name, fitting, unfit) => {
    for (const value of fitting) expect(faultsOf({ [name]: value })).toEqual([]);
    for (const value of unfit) expect(faultsOf({ [name]: value })).toEqual([expect.stringMatching(`^${name} must be`)]);
  });

  it('refuse a database whose certificate can’t be read', () => {
    const faults = faultsOf({ DATABASE_URL: 'postgres://a/d?sslmode=verify-full&sslrootcert=/nowhere/ca.pem' });
    expect(faults).toEqual(['DATABASE_URL must name files of certificates that can be read (ENOENT)']);
  });

  it.each([
    'postgres://u:secret@a:5432,b/c?target_session_attrs=read-write',
    'postgres://a,b?target_session_attrs=primary',
    'postgres:///c?host=/run/a,/run/b',
    'postgres://a/c?host=a%2Cb',
    'postgres://a/c?port=1,2',
  ])('refuse several hosts of a database: %s', (url) => {
    const fault = 'must have one host: an address that leads to the primary';
    expect(faultsOf({ DATABASE_URL: url })).toEqual([`DATABASE_URL ${fault}`]);
    const pooled = { DATABASE_URL: 'postgres://pooler/c', DATABASE_POOLER: 'transaction', DATABASE_DIRECT_URL: url };
    expect(faultsOf(pooled)).toEqual([`DATABASE_DIRECT_URL ${fault}`]);
  });

  it('accept a pooler only with the address of the database behind it', () => {
    const pooled = { DATABASE_URL: 'postgres://a:b@pooler/d', DATABASE_POOLER: 'transaction' };
    const direct = { DATABASE_DIRECT_URL: 'postgres://a:b@c/d' };
    expect(faultsOf({ ...pooled, ...direct })).toEqual([]);
    expect(faultsOf(pooled)).toEqual(['DATABASE_DIRECT_URL must be set if DATABASE_POOLER is']);
    expect(faultsOf({ ...direct, DATABASE_POOLER: 'transaction' })).toEqual([
      'DATABASE_URL must be set if DATABASE_POOLER is',
    ]);
    expect(faultsOf(direct)).toEqual(['DATABASE_POOLER must be set if DATABASE_DIRECT_URL is']);
  });

  const mail = { SMTP_URL: 'smtps://u:p@h:465', MAIL_FROM: 'a@b', STORE_EMAIL: 'c@d', PORTAL_URL: 'https://p.example' };

  it('accept a mail server only with a sender, a recipient, and the portal’s address, with which mailed links start', () => {
    expect(faultsOf(mail)).toEqual([]);
    expect(faultsOf({ SMTP_URL: mail.SMTP_URL })).toEqual([
      'PORTAL_URL must be set if SMTP_URL is',
      'MAIL_FROM must be set if SMTP_URL is',
      'STORE_EMAIL must be set if SMTP_URL is',
    ]);
  });

  it.each(['http://localhost', 'smtp:///h'])('refuse the mail server %s', (SMTP_URL) => {
    const rule = 'SMTP_URL must be a URL that starts with smtp:// or smtps://';
    expect(faultsOf({ ...mail, SMTP_URL })).toEqual([rule]);
  });

  it.each([
    ['LAME_DUCK', 'SHUTDOWN_TIMEOUT', 'be at least 5s shorter than', ['5m', '305s'], ['5m', '304s']],
    ['BAN_SECONDS', 'BAN_SECONDS_MAX', 'not be more than', ['86400', '86400'], ['60', '59']],
  ])('refuse %s if it contradicts %s', (name, other, rule, fitting, unfit) => {
    const both = ([one, two]: string[]) => faultsOf({ [name]: String(one), [other]: String(two) });
    expect(both(fitting)).toEqual([]);
    expect(both(unfit)).toEqual([`${name} must ${rule} ${other}`]);
  });

  it('are refused in a .env that can’t be read', () => {
    const before = process.cwd();
    process.chdir(mkdtempSync(join(tmpdir(), 'settings-')));
    expect(loadEnvFile).not.toThrow();
    mkdirSync('.env');
    expect(loadEnvFile).toThrow(ConfigError);
    process.chdir(before);
  });

  const file = (name: string) => readFileSync(join(__dirname, '../../..', name), 'utf8');

  it('stand in docker/settings.md and .env.example as `npm run settings -w @adoption-store/config` writes them', () => {
    const page = file('docker/settings.md');
    expect(page).toBe(settingsPage(page));
    expect(file('.env.example')).toBe(envExample());
  });
});
