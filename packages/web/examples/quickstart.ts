// Lists animals, adds one, and finds it by its id. The client reads API_URL and API_KEY.
import { AdoptionStore, ApiError } from '@adoption-store/client';

try {
  const store = new AdoptionStore();
  console.log((await store.pets.list({ status: 'available', limit: 20 }).page()).items);

  const added = await store.pets.create({ name: 'Luna', categoryId: 1n, status: 'available' });
  console.log(added);
  console.log(await store.pets.get(added.id));
} catch (error) {
  console.error(error instanceof ApiError ? `${error.code}: ${error.message}` : String(error));
  if (error instanceof ApiError) console.error(`request id: ${error.requestId ?? 'none'}`);
  process.exitCode = 1;
}
