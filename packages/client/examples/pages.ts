// Page by page, as a page with a "more" button needs it. `next` can be stored and used later, by another process too.
import { AdoptionStore } from '@adoption-store/client';

const { API_URL: baseUrl = 'http://localhost:3000/v1', API_KEY: apiKey = '' } = process.env;
const store = new AdoptionStore({ baseUrl, apiKey });

const pets = store.pets({ limit: 2 });
const first = await pets.page();
const second = first.next === undefined ? undefined : await pets.page(first.next);
for (const { id, name } of [...first.items, ...(second?.items ?? [])]) console.log(`${id} ${name}`);
