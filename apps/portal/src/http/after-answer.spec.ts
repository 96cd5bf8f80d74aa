import { expect, it } from '@jest/globals';
import Fastify from 'fastify';
import { AfterAnswer } from './after-answer.js';

function open() {
  const lines: string[] = [];
  const fastify = Fastify({ logger: { level: 'error', stream: { write: (line: string) => lines.push(line) } } });
  return { fastify, work: AfterAnswer.of(fastify), lines };
}

it('what fails is logged, and what comes after it is done nevertheless', async () => {
  const { fastify, work, lines } = open();
  const done: string[] = [];
  work.take('a reset', () => Promise.reject(new Error('the database is away')));
  work.take('a reset', async () => void done.push('second'));
  await fastify.close();
  expect(done).toEqual(['second']);
  expect(lines).toEqual([expect.stringMatching(/"work":"a reset".*the database is away.*accepted has failed/)]);
});

it('closing waits for what was taken, a piece at a time', async () => {
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

it('refuses what it could only do too late, and takes more as soon as it has room', async () => {
  const { fastify, work } = open();
  const nothing = () => Promise.resolve();
  for (let piece = 0; piece < 1_000; piece += 1) work.take('a reset', nothing);
  expect(() => {
    work.take('a reset', nothing);
  }).toThrow('too much is waiting');
  await fastify.close();
  expect(() => {
    work.take('a reset', nothing);
  }).not.toThrow();
});
