import { accessSync, constants } from 'node:fs';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/**
 * The Chromium of this machine.
 *
 * @returns undefined if there is none; with REQUIRE_PROGRAMS, as in CI, that is an error.
 */
export function findChromium(): string | undefined {
  const found = [process.env['CHROMIUM'] ?? '', ...PLACES].find(isExecutable);
  if (found === undefined && process.env['REQUIRE_PROGRAMS'] === '1')
    throw new Error('REQUIRE_PROGRAMS is set, but there is no Chromium');
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
