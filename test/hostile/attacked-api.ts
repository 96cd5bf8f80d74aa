import { afterAll, beforeAll, expect } from '@jest/globals';
import { ask, createDatabase, type Running, type TestDatabase } from '@adoption-store/test-support';
import { exchange, type RawResponse, request, type Target } from '@adoption-store/api/testing/raw-http';
import { issueKey, startApi } from '../support/services.js';

/** Two animals that no hostile request names. */
const PETS = [9_000_000_000_000_000, 9_000_000_000_000_001] as const;
/** The requests of an honest client: animals, with a next page, and what only its own account may see. */
const HONEST = [`/v1/pets?id=${PETS[0]}&id=${PETS[1]}&limit=1`, '/v1/store/orders'];

/** An API process, a key of a hostile client, and an honest client of another account. */
export class AttackedApi {
  target!: Target;
  private service!: Running;
  /** The hostile client's. */
  key = '';
  private database!: TestDatabase;
  private honestKey = '';
  private expected: readonly unknown[] = [];

  async start(): Promise<void> {
    this.database = await createDatabase();
    const settings = { DATABASE_URL: this.database.url };
    // Proxy headers are trusted, because a hostile client may send its own through a proxy.
    const api = await startApi({ ...settings, TRUST_PROXY: '127.0.0.1', LOG_LEVEL: 'error' });
    [this.service, this.target] = [api.service, api.target];
    this.key = await issueKey(settings, 'hostile@example.com');
    this.honestKey = await issueKey(settings, 'honest@example.com');
    await ask(
      this.database.url,
      `INSERT INTO animals (id, name, name_key, category_id, status)
      SELECT id, 'Luna', 'luna', 1, 'available' FROM unnest($1::bigint[]) id`,
      [PETS],
    );
    const headers = { authorization: `Bearer ${this.honestKey}`, 'content-type': 'application/json' };
    const order = { method: 'POST', headers, body: `{"petId":${PETS[0]}}` };
    expect(await request(this.target, '/v1/store/orders', order)).toMatchObject({ status: 201 });
    this.expected = await this.honestAnswers();
    expect(this.expected).toEqual([
      {
        status: 200,
        body: expect.stringContaining('Luna'),
        link: expect.stringContaining('http://honest.example/v1/'),
      },
      { status: 200, body: expect.stringContaining(String(PETS[0])), link: undefined },
    ]);
  }

  async stop(): Promise<void> {
    await this.service.stop();
    await this.database.drop();
    const errors = this.service.stdout.split('\n').filter((line) => /"level":[56]0/.test(line));
    // A lost dependency is no defect: on a busy machine its answer may be late.
    expect(errors.filter((line) => !line.includes('"dependency"'))).toEqual([]);
  }

  /** Expects that the process still runs, and that an honest client gets the same responses as before. */
  async expectUnharmed(): Promise<void> {
    expect(await this.honestAnswers()).toEqual(this.expected);
    expect(this.service.child).toMatchObject({ exitCode: null, signalCode: null });
  }

  /** The animals that the hostile client has created. */
  async countOfPets(): Promise<number | undefined> {
    const statement = 'SELECT count(*)::integer AS count FROM animals WHERE id <> ALL ($1)';
    return (await ask<{ count: number }>(this.database.url, statement, [PETS]))[0]?.count;
  }

  private async honestAnswers(): Promise<readonly unknown[]> {
    const asked = HONEST.map(
      (path) => `GET ${path} HTTP/1.1\r\nHost: honest.example\r\nAuthorization: Bearer ${this.honestKey}\r\n\r\n`,
    );
    const responses = await exchange(this.target, asked.length, asked);
    return responses.map(({ status, headers, body }: RawResponse) => ({ status, body, link: headers['link'] }));
  }
}

/** Starts the API before a suite's first test, and stops it after the last. */
export function useAttackedApi(): AttackedApi {
  const api = new AttackedApi();
  beforeAll(() => api.start());
  afterAll(() => api.stop());
  return api;
}
