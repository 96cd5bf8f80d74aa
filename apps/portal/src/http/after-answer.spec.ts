import { expect, it } from '@jest/globals';
import Fastify from 'fastify';
import { AfterAnswer } from './after-answer.js';

function open() {
  const lines: string[] = [];
  const fastify = Fastify({ logger: { level: 'error', stream: { write: (line: string) => lines.push(line) } } });
  return { fastify, work: AfterAnswer.of(fastify), lines };
}

it('a failed task is logged, and the next one still runs', async () => {
  const { fastify, work, lines } = open();
  const done: string[] = [];
  work.take('a reset', () => Promise.reject(new Error('the database is away')));
  work.take('a reset', async () => void done.push('second'));
  await fastify.close();
  expect(done).toEqual(['second']);
  expect(lines).toEqual([expect.stringMatching(/"work":"a reset".*the database is away.*an accepted task has failed/)]);
});

it('closing waits for the accepted tasks, one after another', async () => {
  const { fastify, work } = open();
  let underWay = 0;
  const seen: number[] = [];
  for (let piece = 0; piece < 3; piece += 1) {
    work.take('a reset', async () => {
      underWay += 1;
      await new Promise(setImmediate);
      seen.push(underWay);
      underWay -= 1;
    });
  }
  await fastify.close();
  expect(seen).toEqual([1, 1, 1]);
});

it('refuses a task while its queue is full, and accepts more once it has room', async () => {
  const { fastify, work } = open();
  const nothing = () => Promise.resolve();
  for (let piece = 0; piece < 1_000; piece += 1) work.take('a reset', nothing);
  expect(() => {
    work.take('a reset', nothing);
  }).toThrow('too many tasks are waiting');
  await fastify.close();
  expect(() => {
    work.take('a reset', nothing);
  }).not.toThrow();
});
