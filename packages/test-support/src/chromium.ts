import { existsSync } from 'node:fs';

const PLACES = [
  process.env['CHROMIUM'] ?? '',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
];

/**
 * The Chromium of this machine.
 *
 * @returns undefined if there is none; with REQUIRE_PROGRAMS, as in CI, that is an error.
 */
export function findChromium(): string | undefined {
  const found = PLACES.find((file) => existsSync(file));
  if (found === undefined && process.env['REQUIRE_PROGRAMS'] === '1')
    throw new Error('REQUIRE_PROGRAMS is set, but there is no Chromium');
  return found;
}

/**
 * Arguments of the tests' browsers. They turn off what Chromium does by itself: it calls servers that a test machine
 * may not reach, and its graphics process may crash there, and the browser with it.
 */
export const CHROMIUM_ARGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
