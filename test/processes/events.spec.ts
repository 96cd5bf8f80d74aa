import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type AnimalId, newAnimal } from '@adoption-store/domain';
import { openInfrastructure } from '@adoption-store/infrastructure';
import { ask, expectDatabaseErrors, Running, until, WORKER } from '@adoption-store/test-support';
import { type Replicas, startReplicas } from '../support/replicas.js';

/** Changes of a round. More changes and rounds take longer and prove more. */
const CHANGES = Number(process.env['FEED_CHANGES'] ?? 400);
const ROUNDS = Number(process.env['FEED_ROUNDS'] ?? 1);
const WRITERS = 8;
const READERS = 3;
/** Animals of the import that is made beside the writers. */
const IMPORTED = 20;
const IMPORTED_PET = { id: 0, name: 'Imported', categoryId: 1, status: 'available' } as const;

/**
 * Holds the transaction of every 50th event at its COMMIT, for up to 2 s: the event has its place, and nobody sees it. The
 * API gives up after 1.5 s, so some of them are rolled back, and asked for again.
 */
const HOLD = `
  CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql
    AS 'BEGIN PERFORM pg_sleep(random() * 2); RETURN NULL; END';
  CREATE CONSTRAINT TRIGGER hold AFTER INSERT ON event_outbox DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW WHEN (NEW.place % 50 = 0) EXECUTE FUNCTION hold()`;

interface Pet {
  readonly id: number;
  readonly name: string;
  readonly categoryId: number;
  readonly status: string;
  /** The order that is placed for it. */
  readonly order?: number;
}

interface Event {
  readonly id: string;
  readonly type: string;
  readonly createdAt: string;
  readonly data: { readonly id: number; readonly name?: string; readonly petId?: number };
}

/** A writer, with the animals that it alone changes, and what every reader must learn of them. */
class Writer {
  readonly pets: Pet[] = [];
  readonly ids = new Set<number>();
  readonly events: string[] = [];

  told(type: string, { order: _, ...data }: object & { readonly order?: number }): void {
    this.events.push(inWords({ type, data }));
  }
}

function inWords({ type, data }: { readonly type: string; readonly data: object }): string {
  return `${type} ${JSON.stringify(data)}`;
}

/** Where two lists begin to differ. They are too long to be printed. */
function difference(found: readonly string[], wanted: readonly string[]) {
  const place = Array.from({ length: Math.max(found.length, wanted.length) }).findIndex(
    (_, index) => found[index] !== wanted[index],
  );
  return place === -1 ? 'none' : { place, found: found[place], wanted: wanted[place] };
}

describe('the feed of events, of two replicas and a worker', () => {
  let replicas: Replicas;
  let worker: Running;
  /** Where each reader goes on. */
  let places: string[];
  let sent = 0;
  let refused = 0;
  /** Additions without an answer. They weren't sent again, so they may or may not have happened. */
  const unknown = new Set<string>();
  beforeAll(async () => {
    // A transaction that is held longer than the API waits, or that another one waits for.
    expectDatabaseErrors('57014', '55P03');
    replicas = await startReplicas();
    await ask(replicas.databaseUrl, HOLD);
    const settings = { WORKER_PORT: '0', WORKER_HOST: '127.0.0.1', LOG_LEVEL: 'error' };
    worker = new Running(WORKER, [], { ...settings, DATABASE_URL: replicas.databaseUrl });
    await worker.prints(/The worker is ready/);
    places = Array.from({ length: READERS }, (_, reader) => `/v1/events?limit=${[100, 20, 7][reader % 3]}`);
  });
  afterAll(async () => {
    await worker.stop();
    await replicas.close();
  });

  const request = async (method: string, path: string, body?: object, headers = {}) => {
    const answer = await replicas.send(method, replicas.originOf((sent += 1)) + path, body, headers);
    if (answer.status === 503) refused += 1;
    return answer;
  };

  /** Sends a change until it is answered. However often that is, it happens once. */
  async function change<Shown>(method: string, path: string, body?: object): Promise<Shown> {
    const headers = method === 'POST' ? { 'idempotency-key': `change-${(sent += 1)}` } : {};
    let shown: string | undefined;
    let tries = 0;
    await until(async () => {
      const { status, text } = await request(method, path, body, headers);
      tries += 1;
      if (status < 300 || (method === 'DELETE' && status === 404 && tries > 1)) shown = text || '{}';
      else if (status !== 503 && !text.includes('idempotency_key_in_use'))
        throw new Error(`${method} ${path}: ${text}`);
      return shown !== undefined;
    });
    return JSON.parse(shown ?? '') as Shown;
  }

  async function add(writer: Writer): Promise<void> {
    const body = { name: `Luna ${(sent += 1)}`, categoryId: 1 };
    // Without a key, additions that come together are stored by one statement.
    const answer = sent % 2 === 0 ? undefined : await request('POST', '/v1/pets', body);
    if (answer !== undefined && answer.status !== 201) {
      expect(answer.status).toBe(503);
      unknown.add(body.name);
      return;
    }
    const pet = answer ? (JSON.parse(answer.text) as Pet) : await change<Pet>('POST', '/v1/pets', body);
    writer.told('pet.added', pet);
    writer.pets.push(pet);
    writer.ids.add(pet.id);
  }

  async function order(writer: Writer, pet: Pet): Promise<Pet> {
    const path = pet.order === undefined ? '' : `/${pet.order}/${Math.random() < 0.5 ? 'complete' : 'cancel'}`;
    const body = pet.order === undefined ? { petId: pet.id } : undefined;
    const shown = await change<{ id: number; status: string }>('POST', `/v1/store/orders${path}`, body);
    const { order: _, ...rest } = pet;
    const status = { placed: 'pending', completed: 'sold', cancelled: 'available' }[shown.status] ?? '';
    const changed = { ...rest, status };
    writer.told(`order.${shown.status}`, shown);
    writer.told('pet.changed', changed);
    return pet.order === undefined ? { ...changed, order: shown.id } : changed;
  }

  /** Makes changes one after another, so it knows the order of their events. */
  async function write(writer: Writer, changes: number): Promise<void> {
    for (let made = 0; made < changes; made += 1) {
      const place = Math.floor(Math.random() * writer.pets.length);
      const pet = writer.pets[place];
      const drawn = Math.random();
      if (pet === undefined || drawn < 0.3) await add(writer);
      else if (pet.order !== undefined || (pet.status === 'available' && drawn < 0.5))
        writer.pets[place] = await order(writer, pet);
      else if (drawn < 0.6) {
        await change('DELETE', `/v1/pets/${pet.id}`);
        writer.told('pet.removed', pet);
        writer.pets.splice(place, 1);
      } else {
        const changed = { ...pet, name: drawn < 0.7 ? pet.name : `Milo ${(sent += 1)}` };
        expect(await change('PATCH', `/v1/pets/${pet.id}`, { name: changed.name })).toEqual(changed);
        if (changed.name !== pet.name) writer.told('pet.changed', changed);
        writer.pets[place] = changed;
      }
    }
  }

  /** Stores many animals in one long transaction. */
  async function importAnimals(writer: Writer, firstId: number): Promise<void> {
    const { ports, close } = await openInfrastructure({ databaseUrl: replicas.ownerUrl, poolSize: 1 });
    const pets = Array.from({ length: IMPORTED }, (_, line) => ({ ...IMPORTED_PET, id: firstId + line }));
    const file = async function* () {
      yield pets.map(({ id, ...pet }, line) => {
        const animal = newAnimal({ ...pet, categoryId: BigInt(pet.categoryId) });
        return { line, id: BigInt(id) as AnimalId, animal };
      });
    };
    const { refused } = await ports.animalImporter.importAll(file(), () => true);
    await close();
    expect(refused.count).toBe(0);
    for (const pet of pets) writer.told('pet.added', pet);
    for (const { id } of pets) writer.ids.add(id);
  }

  /** Follows `next` until nothing more is coming, and then to the end. */
  async function follow(reader: number, isOver: () => boolean): Promise<readonly Event[]> {
    const seen: Event[] = [];
    const readOn = async () => {
      const { status, text, link } = await request('GET', places[reader] ?? '');
      // Perhaps the query had to wait behind a held one of the same connection.
      if (status === 503) return true;
      expect(status).toBe(200);
      const events = JSON.parse(text) as readonly Event[];
      seen.push(...events);
      const next = new URL(/^<([^>]+)>; rel="next"/.exec(link)?.[1] ?? '');
      places[reader] = next.pathname + next.search;
      return events.length > 0;
    };
    for (let isLast = false; !isLast;) {
      isLast = isOver();
      await until(async () => !(await readOn()));
    }
    return seen;
  }

  it.each(Array.from({ length: ROUNDS }, (_, round) => round + 1))(
    `shows ${READERS} readers each event of ${CHANGES} changes once, in one order, and no other, round %d`,
    async (round) => {
      const writers = Array.from({ length: WRITERS }, () => new Writer());
      const importer = new Writer();
      let isOver = false;
      const following = Promise.all(places.map((_, reader) => follow(reader, () => isOver)));
      await Promise.all([
        ...writers.map((writer) => write(writer, CHANGES / WRITERS)),
        importAnimals(importer, round * 1_000_000),
      ]);
      // Waits for all transactions that store an event, also those that the API no longer waits for.
      await ask(replicas.databaseUrl, 'BEGIN; LOCK TABLE event_outbox IN SHARE MODE; COMMIT');
      await until(async () => (await ask(replicas.databaseUrl, 'SELECT FROM event_outbox LIMIT 1')).length === 0);
      isOver = true;
      const [seen = [], ...others] = await following;
      const ids = seen.map(({ id }) => id);
      expect(new Set(ids).size).toBe(ids.length);
      for (const other of others)
        expect(
          difference(
            other.map(({ id }) => id),
            ids,
          ),
        ).toBe('none');
      const known = seen.filter(({ data }) => !unknown.has(data.name ?? ''));
      for (const { ids, events } of [...writers, importer]) {
        const own = known.filter(({ data }) => ids.has(data.petId ?? data.id));
        expect(difference(own.map(inWords), events)).toBe('none');
      }
      expect(known.length).toBe([...writers, importer].reduce((sum, { events }) => sum + events.length, 0));
      let latest = 0;
      const overtaken = seen.filter(({ createdAt }) => {
        const begun = Date.parse(createdAt);
        latest = Math.max(latest, begun);
        return begun < latest - 100;
      });
      // Otherwise no transaction was held, and this proves nothing.
      expect(overtaken.length).toBeGreaterThan(0);
      if (process.env['FEED_CHANGES'] !== undefined)
        console.log(`${seen.length} events, ${overtaken.length} overtaken, ${refused} requests refused`);
    },
  );
});
