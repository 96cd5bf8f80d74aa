// Prints each adoption until Ctrl+C. The next start goes on behind the last one.
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { AdoptionStore } from '@adoption-store/client';

const store = new AdoptionStore(); // API_URL and API_KEY are in the environment
const file = process.env['CURSOR_FILE'] ?? 'cursor.txt';

const cursor = existsSync(file) ? readFileSync(file, 'utf8') : undefined;
const stop = new AbortController();
process.once('SIGINT', () => {
  stop.abort();
});

const events = store.events.follow({ types: ['pet.changed'], cursor, signal: stop.signal });
for await (const { data } of events) {
  if (data.status === 'sold') console.log(`${data.name} was adopted`);
  // Renamed, because a crash while the file is written would leave it empty.
  const draft = `${file}.${randomUUID()}`;
  writeFileSync(draft, events.cursor ?? '', { flag: 'wx' });
  renameSync(draft, file);
}
