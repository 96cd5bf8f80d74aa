/** The calls of a generated client that each program makes. `Int` is the client's type of an int64. */
export interface Client<Int> {
  list(): Promise<readonly Animal<Int>[]>;
  add(animal: { name: string; categoryId: Int }): Promise<Animal<Int>>;
  get(id: Int): Promise<Animal<Int>>;
  order(petId: Int): Promise<{ petId: Int }>;
}

interface Animal<Int> {
  id: Int;
  name: string;
  categoryId: Int;
  status: string;
}

/** Prints what has come back, as one line of JSON. The suite compares it with what the API has. */
export async function run<Int extends number | bigint>(
  int: (text: string) => Int,
  clientOf: (baseUrl: string, key: string) => Client<Int>,
): Promise<void> {
  const { API_URL = '', API_KEY = '', LATER_URL = '', CATEGORY_ID = '' } = process.env;
  const client = clientOf(API_URL, API_KEY);
  const listed = await attempt(async () => (await client.list()).map(({ categoryId }) => String(categoryId)));
  let id: Int | undefined;
  const added = await attempt(async () => {
    const animal = await client.add({ name: 'Bella', categoryId: int(CATEGORY_ID) });
    id = animal.id;
    return String(id);
  });
  const got = await attempt(async () => String((await client.get(id as Int)).id));
  const ordered = await attempt(async () => String((await client.order(id as Int)).petId));
  const later = await attempt(async () => (await clientOf(LATER_URL, API_KEY).list()).map(({ status }) => status));
  console.log(JSON.stringify({ listed, added, got, ordered, later }));
}

async function attempt<Result>(step: () => Promise<Result>): Promise<Result | { failed: string }> {
  try {
    return await step();
  } catch (error) {
    return { failed: error instanceof Error ? error.message : JSON.stringify(error) };
  }
}
