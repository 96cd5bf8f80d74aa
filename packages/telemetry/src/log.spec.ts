import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from '@jest/globals';

const LINES = 5_000;
const PROGRAM = (end: string) => `
  const { setTimeout } = await import('node:timers/promises');
  const { openLog } = await import(${JSON.stringify(new URL('../dist/log.js', import.meta.url).href)});
  const log = await openLog({ service: 'test', level: 'info' });
  for (let index = 0; index < ${LINES}; index += 1) log.gather(',"msg":"line"');
  // Until the pipe is full, so that a write waits for the reader.
  await setTimeout(50);
  process.send('logged', async () => {
    ${end};
    process.exit(0);
  });
`;

/** A process that logs more than a pipe holds. */
function logging(end: string) {
  return spawn(process.execPath, ['--input-type=module', '--eval', PROGRAM(end)], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
}

it('loses no line if the log is closed before the exit, however late its reader is', async () => {
  const child = logging('await log.close()');
  await once(child, 'message');
  let text = '';
  child.stdout?.on('data', (chunk) => (text += String(chunk)));
  await once(child, 'close');
  expect(text.split('"msg":"line"')).toHaveLength(LINES + 1);
});

it('lets the process exit if nobody reads', async () => {
  const child = logging('');
  expect(await once(child, 'exit')).toEqual([0, null]);
  child.stdout?.destroy();
});
