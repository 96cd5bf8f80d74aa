import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { continueTrace, formatTraceparent, parseTraceparent } from './trace-context.js';

const LINES = 5_000;

/** A process that logs more than a pipe holds, until a write waits for the reader, and ends as it is told. */
function logging(end: string, output: 'pipe' | number = 'pipe') {
  const program = `
    const { setTimeout } = await import('node:timers/promises');
    const { openLog } = await import(${JSON.stringify(new URL('../dist/log.js', import.meta.url).href)});
    const log = await openLog({ service: 'test', level: 'info' });
    for (let index = 0; index < ${LINES}; index += 1) log.gather(',"msg":"line"');
    await setTimeout(50);
    process.send('logged', async () => {
      ${end};
      process.exit(0);
    });`;
  return spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', output, output === 'pipe' ? 'inherit' : output, 'ipc'],
  }) as ChildProcess & { readonly stdout: Readable };
}

describe('a log', () => {
  it('loses no line if the log is closed before the exit, however late its reader is', async () => {
    const child = logging('await log.close()');
    await once(child, 'message');
    const written = text(child.stdout);
    await once(child, 'close');
    expect((await written).split('"msg":"line"')).toHaveLength(LINES + 1);
  });

  it('never has an API key, whichever text it is in', async () => {
    const child = logging(`
      log.gather(',"request_id":"Bearer_aas_live_0123"');
      log.logger.error({ text: 'my key is "aas_staging_4567", why?' }, 'aas_live_89');
      await log.close()`);
    const written = await text(child.stdout);
    expect(written).toContain('"request_id":"Bearer_redacted"');
    expect(written).toContain('"text":"my key is \\"redacted\\", why?","msg":"redacted"');
    expect(written).not.toContain('aas_');
  });

  it('lets the process exit if nobody reads', async () => {
    const child = logging('');
    expect(await once(child, 'exit')).toEqual([0, null]);
    child.stdout.destroy();
  });
});

describe('a log on a full disk', () => {
  let full: number;
  beforeEach(() => {
    full = openSync('/dev/full', 'w');
  });
  afterEach(() => {
    closeSync(full);
  });

  it.each([
    ['exit', 'log.gather(\',"msg":"last"\')', 0],
    ['close the log', 'await log.close()', 0],
    ['fail', "log.logger.error('last'); setImmediate(() => { throw new Error('uncaught') }); return", 1],
  ])('lets the process %s', async (_what, end, code) => {
    expect(await once(logging(end, full), 'exit')).toEqual([code, null]);
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
    ['capitals', VALID.toUpperCase()],
    ['a trace id of zeros', `00-${'0'.repeat(32)}-${SPAN}-01`],
    ['a span id of zeros', `00-${TRACE}-${'0'.repeat(16)}-01`],
    ['the invalid version ff', `ff-${TRACE}-${SPAN}-01`],
    ['a long span id', `00-${TRACE}-${SPAN}0-01`],
    ['more fields than this version has', `${VALID}-more`],
    ['a line feed at the end', `${VALID}\n`],
    ['digits that are not hexadecimal', `00-${TRACE.replace('a', 'g')}-${SPAN}-01`],
  ])('is ignored if it is %s', (_what, text) => {
    expect(parseTraceparent(text)).toBeUndefined();
  });

  it.each([VALID, `00-${TRACE}-${SPAN}-00`])('is written as it was read: %s', (text) => {
    const context = parseTraceparent(text);
    expect(context && formatTraceparent(context)).toBe(text);
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
    const [one, other] = [continueTrace(undefined), continueTrace(undefined)];
    expect(parseTraceparent(formatTraceparent(one))).toEqual(one);
    expect(one.traceId).not.toBe(other.traceId);
    expect(one.spanId).not.toBe(other.spanId);
  });
});
