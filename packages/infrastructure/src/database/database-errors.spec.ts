import { describe, expect, it } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { retryRead } from './database-errors.js';

const dataSource = { driver: { master: { dropUnused: () => undefined } } } as unknown as DataSource;
const LOST = Object.assign(new Error('terminating connection'), { code: '57P01' });
const REFUSED = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });

/** A read that fails the given number of times, and the number of its runs. */
function readThatFails(times: number, error: Error) {
  let runs = 0;
  const read = () => {
    runs += 1;
    return runs > times ? Promise.resolve('read') : Promise.reject(error);
  };
  return { answer: retryRead(dataSource, read), runs: () => runs };
}

describe('a read', () => {
  it.each([1, 2])('is retried after %d lost connections in a row', async (times) => {
    await expect(readThatFails(times, LOST).answer).resolves.toBe('read');
  });

  it('is given up after three', async () => {
    const { answer, runs } = readThatFails(3, LOST);
    await expect(answer).rejects.toBe(LOST);
    expect(runs()).toBe(3);
  });

  it('is not retried if there is no connection', async () => {
    const { answer, runs } = readThatFails(1, REFUSED);
    await expect(answer).rejects.toBe(REFUSED);
    expect(runs()).toBe(1);
  });
});
