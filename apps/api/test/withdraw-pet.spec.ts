import { MINUTE } from '@adoption-store/domain';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { useApi } from './support/api.js';
import { expectError, expectLimitHeaders } from './support/expectations.js';
import { changePet, get, idsOf, listPets, rawHead, sendOnce, withdrawPet } from './support/pets-client.js';
import { addPet, end, orderPet, ORDERS, placeOrder } from './support/store-client.js';

const api = useApi();

// Each test has its own minute, so that no test uses up another's quota.
beforeEach(() => {
  api.clock.advance(MINUTE);
});

describe('DELETE /v1/pets/{petId}', () => {
  it.each(['available', 'pending', 'sold'] as const)('answers 204 for an animal that is %s', async (status) => {
    const response = await withdrawPet(api, await addPet(api, status));
    expect(response).toMatchObject({ status: 204, body: '', headers: { 'x-stability': 'beta' } });
    expect(response.headers).not.toHaveProperty('content-type');
    expect(response.headers).not.toHaveProperty('content-length');
    expectLimitHeaders(response);
  });

  it('takes the animal out of every list, and its id answers 404 to every operation', async () => {
    const [id, bystander] = [await addPet(api), await addPet(api)];
    await withdrawPet(api, id);
    expectError(await get(api, `/v1/pets/${id}`), 404, 'not_found');
    expectError(await changePet(api, id, { name: 'Milo' }), 404, 'not_found');
    expectError(await withdrawPet(api, id), 404, 'not_found');
    expectError(await orderPet(api, id), 404, 'not_found');
    expect(idsOf(await listPets(api, `?id=${id}&id=${bystander}`))).toEqual([bystander]);
    expect(idsOf(await listPets(api, '?limit=100&status=available'))).not.toContain(id);
  });

  it('is refused while an order is placed, and leaves its earlier orders readable', async () => {
    const order = await placeOrder(api);
    expectError(await withdrawPet(api, order.petId), 409, 'order_in_progress');
    expect(await get(api, `/v1/pets/${order.petId}`)).toMatchObject({ status: 200 });
    await end(api, 'complete', order.id);
    expect(await withdrawPet(api, order.petId)).toMatchObject({ status: 204 });
    const { status, body } = await get(api, `${ORDERS}/${order.id}`);
    expect({ status, order: JSON.parse(body) as unknown }).toMatchObject({
      status: 200,
      order: { id: order.id, petId: order.petId, status: 'completed' },
    });
    expect((await get(api, `${ORDERS}?status=completed`)).body).toContain(`"petId":${order.petId},`);
  });

  it('is an Error body if the request turns out not to be HTTP', async () => {
    const head = rawHead(api, `DELETE /v1/pets/${await addPet(api)} HTTP/1.1`, ['Transfer-Encoding: chunked']);
    expectError(await sendOnce(api, `${head}zz\r\n`), 400, 'bad_request');
  });

  it('with If-Match withdraws only the version that has the tag', async () => {
    const id = await addPet(api);
    const { headers } = await get(api, `/v1/pets/${id}`);
    const tag = { 'If-Match': headers['etag'] ?? '' };
    await changePet(api, id, { name: 'Milo' });
    expectError(await withdrawPet(api, id, tag), 412, 'precondition_failed');
    await changePet(api, id, { name: 'Luna' });
    expect(await withdrawPet(api, id, tag)).toMatchObject({ status: 204 });
  });

  it.each(['999999', '0', '-1', 'x', '9223372036854775808'])('answers 404 to the animal %s', async (id) => {
    expectError(await withdrawPet(api, id), 404, 'not_found');
    expectError(await withdrawPet(api, id, { 'If-Match': '*' }), 404, 'not_found');
  });
});
