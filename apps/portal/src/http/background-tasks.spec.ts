import { describe, expect, it } from '@jest/globals';
import Fastify from 'fastify';
import { BackgroundTasks } from './background-tasks.js';

describe('a background task', () => {
  function open() {
    const lines: string[] = [];
    const fastify = Fastify({ logger: { level: 'error', stream: { write: (line: string) => lines.push(line) } } });
    return { fastify, tasks: BackgroundTasks.of(fastify), lines };
  }

  it('is done one after another, before closing; a failed task is logged, and the next one still runs', async () => {
    const { fastify, tasks, lines } = open();
    const steps: string[] = [];
    tasks.add('a reset', async () => {
      steps.push('one begins');
      await new Promise(setImmediate);
      steps.push('one fails');
      throw new Error('the database is away');
    });
    tasks.add('another reset', async () => {
      await new Promise(setImmediate);
      steps.push('the other is done');
    });
    await fastify.close();
    expect(steps).toEqual(['one begins', 'one fails', 'the other is done']);
    const logged = /"task":"a reset".*the database is away.*a background task has failed/;
    expect(lines).toEqual([expect.stringMatching(logged)]);
  });

  it('is refused while a thousand wait, and accepted once there is room', async () => {
    const { fastify, tasks } = open();
    const add = () => {
      tasks.add('a reset', () => Promise.resolve());
    };
    for (let task = 0; task < 1_000; task += 1) add();
    expect(add).toThrow('too many tasks are waiting');
    await fastify.close();
    expect(add).not.toThrow();
  });
});
