import { describe, expect, it } from '@jest/globals';
import { type Answer, clientOf, DISCONNECTED, errorOf, refusal, silence } from '../test/support/scripted-client.js';
import type { VirtualClock } from '../test/support/virtual-clock.js';

const TEXT = '{"id":1,"name":"Cats"}';
const TRY_TIMEOUT = 30_000;
const TIMEOUT = { code: 'timeout', kind: 'timeout', status: 0 };
const GONE = new Error('the caller has gone');

/** A body that begins and never ends. */
const half: Answer = (clock) => {
  clock.stall();
  return new Response(
    new ReadableStream({
      start: (controller) => {
        controller.enqueue(Buffer.from(TEXT.slice(0, 10)));
      },
    }),
  );
};

/** A body of one byte a second. */
const drip =
  (text: string): Answer =>
  (clock) => {
    clock.stall();
    const bytes = [...Buffer.from(text)];
    const body = new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        const byte = bytes.shift();
        if (byte === undefined) controller.close();
        else controller.enqueue(Uint8Array.of(byte));
        await clock.wait(1_000);
      },
    });
    return new Response(body);
  };

const abortAfter = (clock: VirtualClock, milliseconds: number) => {
  const controller = new AbortController();
  void clock.wait(milliseconds).then(() => {
    controller.abort(GONE);
  });
  return controller.signal;
};

describe.each<[string, Answer]>([
  ['does not come', silence],
  ['stops half-way', half],
  ['comes byte by byte', drip('x'.repeat(100))],
])('an answer that %s', (_how, answer) => {
  it('is given up after tryTimeout, and the request is sent again', async () => {
    const { store, sent } = clientOf([answer]);
    expect(await errorOf(store.categories.get(1n))).toMatchObject(TIMEOUT);
    expect(sent).toHaveLength(5);
    expect((sent[1]?.at ?? 0) - TRY_TIMEOUT).toBeGreaterThanOrEqual(250);
    expect((sent[1]?.at ?? 0) - TRY_TIMEOUT).toBeLessThanOrEqual(500);
  });

  it('is given up when the call takes longer than its timeout', async () => {
    const { store, sent, clock } = clientOf([answer], { timeout: 5_000 });
    expect(await errorOf(store.categories.get(1n))).toMatchObject(TIMEOUT);
    expect([sent.length, clock.now()]).toEqual([1, 5_000]);
  });

  it('is given up when the caller aborts', async () => {
    const { store, clock } = clientOf([answer]);
    const error = await errorOf(store.categories.get(1n, { signal: abortAfter(clock, 1_000) }));
    expect(error).toMatchObject({ code: 'aborted', kind: 'aborted', cause: GONE });
    expect(clock.now()).toBe(1_000);
  });
});

it('an answer that comes slowly but in time is read', async () => {
  expect(await clientOf([drip(TEXT)]).store.categories.get(1n)).toEqual({ id: 1n, name: 'Cats' });
});

describe('aborting', () => {
  it('ends the wait for the next try at once', async () => {
    const { store, clock } = clientOf([refusal(503, { 'Retry-After': '30' })]);
    expect(await errorOf(store.categories.get(1n, { signal: abortAfter(clock, 1_000) }))).toMatchObject({
      cause: GONE,
    });
    expect(clock.now()).toBe(1_000);
  });

  it('before the call sends nothing, and the error has the key of the POST', async () => {
    const { store, sent } = clientOf([DISCONNECTED]);
    const error = await errorOf(
      store.pets.create({ name: 'Luna', categoryId: 1n }, { signal: AbortSignal.abort(GONE) }),
    );
    expect(error).toMatchObject({ code: 'aborted', idempotencyKey: expect.stringMatching(/^[\da-f]{32}$/) });
    expect(sent).toEqual([]);
  });
});
