// Reads what has happened since the last run, and ends. The next run goes on there.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { AdoptionStore } from '@adoption-store/client';

const store = new AdoptionStore(); // API_URL and API_KEY are in the environment
const file = process.env['CURSOR_FILE'] ?? 'cursor.txt';

const events = store.events.catchUp({ cursor: existsSync(file) ? readFileSync(file, 'utf8') : undefined });
for await (const { type, createdAt } of events) console.log(`${createdAt} ${type}`);
writeFileSync(file, events.cursor ?? '');
