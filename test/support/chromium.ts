import { execFile } from 'node:child_process';
import { accessSync, constants, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/**
 * The Chromium of this machine.
 *
 * @returns undefined if there is none; with REQUIRE_CHROMIUM, as in CI, that is an error.
 */
export function findChromium(): string | undefined {
  const found = [process.env['CHROMIUM'] ?? '', ...PLACES].find(isExecutable);
  if (found === undefined && process.env['REQUIRE_CHROMIUM'] === '1')
    throw new Error('REQUIRE_CHROMIUM is set, but there is no Chromium');
  return found;
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return file !== '';
  } catch {
    return false;
  }
}

/** The page's DOM after its scripts have run. */
export async function dumpDom(chromium: string, url: string): Promise<string> {
  const profile = mkdtempSync(join(tmpdir(), 'adoption-store-chromium-'));
  const flags = [
    '--headless',
    '--no-sandbox',
    '--disable-gpu',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    '--disable-quic',
  ];
  try {
    const args = [...flags, `--user-data-dir=${profile}`, '--virtual-time-budget=5000', '--dump-dom', url];
    return (await promisify(execFile)(chromium, args)).stdout;
  } finally {
    rmSync(profile, { recursive: true, force: true });
  }
}
