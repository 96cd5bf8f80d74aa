import { describe } from '@jest/globals';
import type { AdoptionStore } from '../../src/index.js';
import type { VirtualClock } from '../support/virtual-clock.js';
import { type Case, cats, CATS_VALUE, play } from './cases.js';
import { hang, type Step } from './hostile-server.js';

const TEXT = '{"id":1,"name":"Cats"}';
const TIMEOUT = { code: 'timeout', kind: 'timeout', status: 0 };
/** A try of 30 s, and the least back-off. */
const AFTER_TIMEOUTS = [30_250, 30_500, 31_000, 32_000];

const headers: Step = (response) => {
  response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': TEXT.length });
  response.flushHeaders();
};
const half: Step = (response, exchange) => {
  void headers(response, exchange);
  response.write(TEXT.slice(0, 10));
};
/** Sends its bytes one by one, with this wait after each. */
const drip =
  (milliseconds: number, text = TEXT): Step =>
  async (response, { clock }) => {
    response.writeHead(200, { 'Content-Type': 'application/json' });
    for (const byte of text) {
      if (response.destroyed) return;
      response.write(byte);
      await clock.pause(milliseconds);
    }
    response.end();
  };

const create = (store: AdoptionStore) => store.createPet({ name: 'Luna', categoryId: 2n });
const luna: Step = (response) => {
  response.writeHead(201).end('{"id":1,"name":"Luna","categoryId":2,"status":"available"}');
};
const LUNA = { value: { id: 1n, name: 'Luna', categoryId: 2n, status: 'available' } };

/** The default call, whose caller aborts it after that time. */
const abortedAfter = (milliseconds: number) => async (store: AdoptionStore, clock: VirtualClock) => {
  const controller = new AbortController();
  void clock.wait(milliseconds).then(() => {
    controller.abort(new Error('the caller has gone'));
  });
  return store.getCategory(1n, { signal: controller.signal });
};
const ABORTED = { code: 'aborted', kind: 'aborted', status: 0, cause: new Error('the caller has gone') };

describe('a server that hangs', () => {
  play([
    ...(
      [
        ['no answer', hang()],
        ['headers only', hang(headers)],
        ['half a body', hang(half)],
        ['one byte a second, for ever', drip(1_000, 'x'.repeat(100))],
      ] as const
    ).flatMap(([server, step]): Case[] => [
      { server, steps: [step], ends: TIMEOUT, requests: 5, waits: AFTER_TIMEOUTS },
      { server: `${server}; then 200`, steps: [step, cats], ends: CATS_VALUE, requests: 2, waits: [30_250] },
      { server: `${server}; timeout 5 s`, steps: [step], options: { timeout: 5_000 }, ends: TIMEOUT, requests: 1 },
      {
        server: `${server}; the call's timeout 40 s`,
        steps: [step],
        call: (store) => store.getCategory(1n, { timeout: 40_000 }),
        ends: TIMEOUT,
        requests: 2,
        waits: [30_250],
      },
      { server: `${server}; aborted after 1 s`, steps: [step], call: abortedAfter(1_000), ends: ABORTED, requests: 1 },
      {
        server: `${server}, to a POST; then 201`,
        steps: [step, luna],
        call: create,
        ends: LUNA,
        requests: 2,
        waits: [30_250],
      },
      {
        server: `${server}, to a PATCH with If-Match`,
        steps: [step],
        call: (store) => store.changePet(1n, { name: 'Milo' }, { ifMatch: '"1"' }),
        ends: TIMEOUT,
        requests: 1,
      },
    ]),
    { server: 'one byte a second, 22 of them', steps: [drip(1_000)], ends: CATS_VALUE, requests: 1 },
    {
      server: 'no answer; maxTries 1',
      steps: [hang()],
      options: { maxTries: 1 },
      ends: TIMEOUT,
      requests: 1,
    },
    {
      server: 'no answer to a DELETE; then 404, for it has happened',
      steps: [hang(), (response) => void response.writeHead(404).end('{"code":"not_found","message":"gone"}')],
      call: (store) => store.withdrawPet(1n),
      ends: { value: undefined },
      requests: 2,
      waits: [30_250],
    },
  ]);
});
