// Page by page, as a page with a "more" button needs it. `next` can be stored and used later, by another process too.
import { AdoptionStore } from '@adoption-store/client';

const store = new AdoptionStore(); // API_URL and API_KEY are in the environment

const pets = store.pets.list({ limit: 2 });
const first = await pets.page();
const second = first.next === undefined ? undefined : await pets.from(first.next).page();
for (const { id, name } of [...first.items, ...(second?.items ?? [])]) console.log(`${id} ${name}`);
