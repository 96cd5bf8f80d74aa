// Receives a webhook's events: each signed, each once, in any order. WEBHOOK_SECRET is the webhook's secret.
import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { verifyWebhook, type WebhookEvent } from '@adoption-store/client';

const secret = process.env['WEBHOOK_SECRET'] ?? '';
// In a database, write both in the transaction that does the work.
const seen = new Set<string>();
const latest = new Map<bigint, number>();

function handle({ id, type, sequence, data }: WebhookEvent): void {
  if (seen.has(id)) return;
  seen.add(id);
  switch (type) {
    case 'pet.added':
    case 'pet.changed':
    case 'pet.removed':
      // A newer event has come before this one. Keep the sequence of a removed animal too.
      if (sequence < (latest.get(data.id) ?? 0)) return;
      latest.set(data.id, sequence);
      console.log(`animal ${data.id}: ${type === 'pet.removed' ? 'withdrawn' : data.name}`);
      return;
    default:
      console.log(type);
  }
}

const server = createServer((request, response) => {
  buffer(request)
    .then((body) => {
      // It reads the headers webhook-id, webhook-timestamp and webhook-signature, and refuses what is old or not signed.
      handle(verifyWebhook({ body, headers: request.headers, secret }));
      response.writeHead(204).end();
    })
    .catch((error: unknown) => {
      response.writeHead(400).end(String(error));
    });
});
server.listen(Number(process.env['PORT'] ?? 8080), () => {
  console.log(server.address());
});
