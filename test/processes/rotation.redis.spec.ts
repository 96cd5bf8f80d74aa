import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { join } from 'node:path';
import {
  API,
  ask,
  askRedis,
  createDatabase,
  KEYS,
  type RedisServer,
  redisServerFor,
  run,
  Running,
  temporaryFolder,
  type TestDatabase,
  until,
} from '@adoption-store/test-support';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { decidedAlone } from '../support/decided-alone.js';
import { Balancer } from '../support/balancer.js';
import { type Answer, isSuccess, Load, slowest } from '../support/load.js';
import { redisLossesIn } from '../support/redis-losses.js';

/** Milliseconds between two requests of a client. */
const BREATH = 10;
/** Answers to wait for at each step. */
const ANSWERS = 100;
/** Requests a day of the account that reaches its limit. */
const FEW = 6;

const suite = "rotation of Redis' password";
const isInstalled = redisServerFor(suite) !== undefined;

interface Instance {
  readonly process: Running;
  readonly origin: string;
  readonly metrics: string;
}

/** The figures of a rotation under load. */
interface Rotation {
  readonly answers: readonly Answer[];
  /** Requests of the load that Redis has counted. */
  readonly counted: number;
  /** Requests that an instance decided by itself. */
  readonly alone: number;
  /** Statuses of one request more than the account with few requests may send. */
  readonly ofFew: readonly number[];
}

(isInstalled ? describe : describe.skip)("Redis' password", () => {
  let database: TestDatabase;
  let redis: RedisServer | undefined;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let balancer: Balancer;
  let load: Load | undefined;
  let instances: Instance[] = [];
  const started: Running[] = [];

  const urlWith = (password: string) => redis?.url.replace('//', `//:${password}@`) ?? '';

  beforeAll(async () => {
    [folder, database] = await Promise.all([temporaryFolder(), createDatabase()]);
    const aclfile = join(folder.path, 'users.acl');
    writeFileSync(aclfile, 'user default on >first ~* &* +@all\n');
    [redis, balancer] = await Promise.all([redisServerFor(suite, { aclfile })?.(), Balancer.open()]);
    instances = await Promise.all([startInstance('first'), startInstance('first')]);
    await ask(database.url, `INSERT INTO animals (name, category_id, status) VALUES ('Luna', 1, 'available')`);
  });

  afterAll(async () => {
    await load?.stop();
    balancer.close();
    await Promise.all(started.map((process) => process.stop()));
    await redis?.close();
    await database.drop();
    await folder.remove();
  });

  async function startInstance(password: string): Promise<Instance> {
    const settings = { DATABASE_URL: database.url, PORT: '0', HOST: '127.0.0.1', LAME_DUCK: '1s', ACCESS_LOG: 'off' };
    const process = new Running(API, [], { ...settings, REDIS_URL: urlWith(password) });
    started.push(process);
    const origin = (await process.prints(/Address {2}(\S+)\/v1/))[1] ?? '';
    const metrics = (await process.prints(/Metrics {2}(\S+)/))[1] ?? '';
    await balancer.add(origin);
    return { process, origin, metrics };
  }

  async function newKey(perDay: number): Promise<string> {
    const plan = ['--plan', 'enterprise', '--per-minute', '1000000', '--per-day', String(perDay)];
    const email = `${randomUUID()}@example.com`;
    return (await run(KEYS, ['create', '--email', email, ...plan], { DATABASE_URL: database.url })).stdout.trim();
  }

  function startLoad(key: string): Load {
    const agent = new Agent({ keepAlive: true });
    load = new Load(balancer.origin, { key, revoked: '' }, [].values(), agent, BREATH);
    return load.start({ readers: 4 });
  }

  const get = (path: string, key: string) =>
    fetch(`${balancer.origin}/v1${path}`, { headers: { authorization: `Bearer ${key}` } });

  async function rotate(former: string, next: string): Promise<Rotation> {
    const [key, few] = [await newKey(1_000_000), await newKey(FEW)];
    const before = await Promise.all(instances.map(({ metrics }) => decidedAlone(metrics)));
    const running = startLoad(key);
    const ofFew: number[] = [];
    const send = async (count: number) => {
      for (let sent = 0; sent < count; sent += 1) ofFew.push((await get('/pets', few)).status);
    };
    await send(2);
    await running.answered(ANSWERS);
    await askRedis(urlWith(former), `ACL SETUSER default >${next}`);
    const ending: Promise<number>[] = [];
    for (const each of instances.splice(0)) {
      instances.push(await startInstance(next));
      await send(1);
      ending.push(end(each));
    }
    const atEnd = await Promise.all(ending);
    await askRedis(urlWith(next), `ACL SETUSER default <${former}`);
    await running.answered(ANSWERS);
    await send(FEW - 3);
    await running.stop();
    const { day } = (await (await get('/rate_limit', key)).json()) as { readonly day: { readonly used: number } };
    const counts = [...atEnd, ...(await Promise.all(instances.map(({ metrics }) => decidedAlone(metrics))))];
    const alone = sum(counts) - sum(before);
    return { answers: running.answers, counted: day.used, alone, ofFew };
  }

  /** Returns the requests that it has decided by itself. */
  async function end(instance: Instance): Promise<number> {
    const alone = await decidedAlone(instance.metrics);
    expect(await instance.process.stop('SIGTERM')).toMatchObject({ code: 0 });
    balancer.remove(instance.origin);
    return alone;
  }

  it('is replaced while two instances serve: no request fails, none loses Redis by it, and limits stay shared', async () => {
    const { answers, counted, alone, ofFew } = await rotate('first', 'second');
    expect(answers.filter((answer) => !isSuccess(answer))).toEqual([]);
    // None, unless the CPU is so busy that an answer takes longer than 40 ms. Such a request may be counted in both.
    expect(started.flatMap(({ stdout }) => redisLossesIn(stdout))).toEqual([]);
    expect(answers.length - counted).toBeLessThanOrEqual(alone);
    expect(counted).toBeLessThanOrEqual(answers.length);
    const admitted = ofFew.filter((status) => status === 200).length;
    expect(admitted).toBeGreaterThanOrEqual(FEW);
    expect(admitted - FEW).toBeLessThanOrEqual(alone);
    console.info(
      `${answers.length} requests, none failed, the slowest took ${slowest(answers)} ms; Redis has counted ${counted}, ` +
        `an instance alone ${alone}; ${admitted} of ${FEW} allowed requests were admitted`,
    );
    await expect(askRedis(urlWith('first'), 'PING')).rejects.toThrow('WRONGPASS');
  });

  it('outlives a restart of Redis once it is saved', async () => {
    await askRedis(urlWith('second'), 'ACL SAVE');
    await redis?.kill();
    await redis?.startAgain();
    expect(await askRedis(urlWith('second'), 'PING')).toBe('PONG');
    await expect(askRedis(urlWith('first'), 'PING')).rejects.toThrow('WRONGPASS');
    await until(async () => (await shared()).every((isShared) => isShared));
  });

  it('that is removed too early ends no open connection, and an instance that must log in again counts alone', async () => {
    const before = sum(await Promise.all(instances.map(({ metrics }) => decidedAlone(metrics))));
    const running = startLoad(await newKey(1_000_000));
    await askRedis(urlWith('second'), 'ACL SETUSER default >last <second');
    await running.answered(ANSWERS);
    await until(async () => (await shared()).every((isShared) => isShared));
    await askRedis(urlWith('last'), 'CLIENT KILL TYPE normal');
    await running.answered(ANSWERS);
    expect(await shared()).toEqual([false, false]);
    const alone = sum(await Promise.all(instances.map(({ metrics }) => decidedAlone(metrics)))) - before;
    expect(alone).toBeGreaterThan(0);
    await askRedis(urlWith('last'), 'ACL SETUSER default >second');
    await until(async () => (await shared()).every((isShared) => isShared));
    await running.stop();
    expect(running.answers.filter((answer) => !isSuccess(answer))).toEqual([]);
    console.info(
      `${running.answers.length} requests, none failed, ${alone} of them were counted by one instance alone`,
    );
  });

  /** Whether each instance counts in Redis. */
  const shared = () => Promise.all(instances.map(async ({ metrics }) => (await pageAt(metrics)).includes(UP)));
});

const UP = '\ndependency_up{dependency="redis"} 1\n';

async function pageAt(address: string): Promise<string> {
  return (await fetch(address)).text();
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
