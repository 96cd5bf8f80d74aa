import { createApplication } from '@adoption-store/domain';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createApi } from '../src/create-api.js';
import { type TestApi, useApi } from './support/api.js';
import { addCategory, categoryOf, getCategory, removeCategory } from './support/categories-client.js';
import { expectError } from './support/expectations.js';
import { openPooled } from './support/pooled.js';
import { changePet, createPet, listPets, petsOf } from './support/pets-client.js';

const categories = 'strict';
const ROUNDS = 30;

let closeOther: () => Promise<void>;
// Before the first replica, which drops the database.
afterAll(() => closeOther());

const one = useApi({}, {}, { categories });
/** A second replica on the same database. */
let other: TestApi;

beforeAll(async () => {
  const { ports, isReady, close } = await openPooled({
    databaseUrl: one.databaseUrl,
    poolSize: 5,
    categories,
  });
  const application = createApplication(ports);
  const api = await createApi({ application, clock: ports.clock, isReady });
  await api.listen(0, '127.0.0.1');
  other = { ...one, application, port: Number(new URL(await api.getUrl()).port) };
  closeOther = async () => {
    await api.close();
    await close();
  };
});

const pet = (categoryId: number) => `{"name":"Luna","categoryId":${categoryId}}`;

describe('with CATEGORIES=strict POST /v1/pets answers', () => {
  it('201 if the category has a name, and 400 invalid_parameter if it has none', async () => {
    const { id } = categoryOf(await addCategory(one, 'Cats'), 201);
    expect(await createPet(other, pet(id))).toMatchObject({ status: 201 });
    const message = expectError(await createPet(other, pet(id + 1)), 400, 'invalid_parameter');
    expect(message).toBe('categoryId must be the id of a category');
  });

  it('as does PATCH of an animal', async () => {
    const { id } = categoryOf(await addCategory(one, 'Otters'), 201);
    const [animal] = petsOf(await listPets(one, '?limit=1'));
    const petId = animal?.id ?? 0;
    const refused = await changePet(other, petId, { name: 'Milo', categoryId: id + 1 });
    expect(expectError(refused, 400, 'invalid_parameter')).toBe('categoryId must be the id of a category');
    expect(petsOf(await listPets(one, `?id=${petId}`))).toEqual([animal]);
    expect(await changePet(other, petId, { name: 'Milo', categoryId: id })).toMatchObject({ status: 200 });
    expect(await changePet(other, petId, { name: 'Nala' })).toMatchObject({ status: 200 });
  });

  it('each of many at once by itself', async () => {
    const { id } = categoryOf(await addCategory(one, 'Dogs'), 201);
    const statuses = await Promise.all(
      Array.from({ length: 24 }, async (_, index) => {
        const { status } = await createPet(index % 2 === 0 ? one : other, pet(index % 3 === 0 ? -1 : id));
        return status;
      }),
    );
    expect(statuses).toEqual(statuses.map((_, index) => (index % 3 === 0 ? 400 : 201)));
  });

  it('400 also under an Idempotency-Key, which is free afterwards', async () => {
    const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': 'strict' };
    const { id } = categoryOf(await addCategory(one, 'Rabbits'), 201);
    await removeCategory(one, id);
    expectError(await createPet(one, pet(id), headers), 400, 'invalid_parameter');
    await one.application.nameCategory.execute({ id: BigInt(id), name: 'Rabbits' });
    expect(await createPet(one, pet(id), headers)).toMatchObject({ status: 201 });
  });
});

describe('with CATEGORIES=strict two replicas', () => {
  it(`have no animal of a removed category after ${ROUNDS} races`, async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const { id } = categoryOf(await addCategory(one, `Race ${round}`), 201);
      const [removed, ...added] = await Promise.all([
        removeCategory(round % 2 === 0 ? one : other, id),
        ...Array.from({ length: 6 }, (_, index) => createPet(index % 2 === 0 ? one : other, pet(id))),
      ]);
      const animals = petsOf(await listPets(one, `?categoryId=${id}`));
      expect(added.filter(({ status }) => status === 201)).toHaveLength(animals.length);
      expect(added.every(({ status }) => status === 201 || status === 400)).toBe(true);
      expect(removed.status).toBe(animals.length === 0 ? 204 : 409);
      expect((await getCategory(other, id)).status).toBe(animals.length === 0 ? 404 : 200);
    }
  });
});
