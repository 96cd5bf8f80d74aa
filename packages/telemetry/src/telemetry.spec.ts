import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { continueTrace, formatTraceparent, parseTraceparent } from './trace-context.js';

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

describe('a log', () => {
  it('loses no line if the log is closed before the exit, however late its reader is', async () => {
    const child = logging('await log.close()');
    await once(child, 'message');
    let text = '';
    child.stdout?.on('data', (chunk) => (text += String(chunk)));
    await once(child, 'close');
    expect(text.split('"msg":"line"')).toHaveLength(LINES + 1);
  });

  it('never has an API key, whichever text it is in', async () => {
    const program = PROGRAM(`
      log.gather(',"request_id":"Bearer_aas_live_0123"');
      log.logger.error({ text: 'my key is "aas_staging_4567", why?' }, 'aas_live_89');
      await log.close()`);
    const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    });
    let text = '';
    child.stdout?.on('data', (chunk) => (text += String(chunk)));
    await once(child, 'close');
    expect(text).toContain('"request_id":"Bearer_redacted"');
    expect(text).toContain('"text":"my key is \\"redacted\\", why?","msg":"redacted"');
    expect(text).not.toContain('aas_');
  });

  it('lets the process exit if nobody reads', async () => {
    const child = logging('');
    expect(await once(child, 'exit')).toEqual([0, null]);
    child.stdout?.destroy();
  });
});

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';
const VALID = `00-${TRACE}-${SPAN}-01`;

describe('a traceparent', () => {
  it('names the trace, the span and whether it is sampled', () => {
    expect(parseTraceparent(VALID)).toEqual({ traceId: TRACE, spanId: SPAN, isSampled: true });
    expect(parseTraceparent(`00-${TRACE}-${SPAN}-00`)).toMatchObject({ isSampled: false });
    expect(parseTraceparent(`00-${TRACE}-${SPAN}-fe`)).toMatchObject({ isSampled: false });
  });

  it('of a later version is read as far as this version goes', () => {
    for (const later of [`01-${TRACE}-${SPAN}-01`, `fe-${TRACE}-${SPAN}-01-more`])
      expect(parseTraceparent(later)).toEqual({ traceId: TRACE, spanId: SPAN, isSampled: true });
  });

  it.each([
    ['nothing', undefined],
    ['an empty one', ''],
    ['capitals', VALID.toUpperCase()],
    ['a trace id of zeros', `00-${'0'.repeat(32)}-${SPAN}-01`],
    ['a span id of zeros', `00-${TRACE}-${'0'.repeat(16)}-01`],
    ['the invalid version ff', `ff-${TRACE}-${SPAN}-01`],
    ['a short trace id', `00-${TRACE.slice(1)}-${SPAN}-01`],
    ['a long span id', `00-${TRACE}-${SPAN}0-01`],
    ['more fields than this version has', `${VALID}-more`],
    ['white space', ` ${VALID}`],
    ['a line feed at the end', `${VALID}\n`],
    ['digits that are not hexadecimal', `00-${TRACE.replace('a', 'g')}-${SPAN}-01`],
  ])('is ignored if it is %s', (_what, text) => {
    expect(parseTraceparent(text)).toBeUndefined();
  });

  it('is written as it was read', () => {
    for (const isSampled of [true, false]) {
      const context = { traceId: TRACE, spanId: SPAN, isSampled };
      expect(parseTraceparent(formatTraceparent(context))).toEqual(context);
    }
  });
});

describe('the next span', () => {
  it('is in the same trace, with the same sampling, under a new id', () => {
    const parent = { traceId: TRACE, spanId: SPAN, isSampled: true };
    const next = continueTrace(parent);
    expect(next).toEqual({ ...parent, spanId: expect.stringMatching(/^[0-9a-f]{16}$/) });
    expect(next.spanId).not.toBe(SPAN);
  });

  it('without a parent begins a new trace, never the same twice', () => {
    const steps = Array.from({ length: 10_000 }, () => continueTrace(undefined));
    expect(steps.filter((step) => parseTraceparent(formatTraceparent(step)) === undefined)).toEqual([]);
    expect(new Set(steps.map(({ traceId }) => traceId)).size).toBe(steps.length);
    expect(new Set(steps.map(({ spanId }) => spanId)).size).toBe(steps.length);
  });
});
