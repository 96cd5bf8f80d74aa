// Receives events. WEBHOOK_SECRET is the secret that the API shows when a webhook is created.
import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { verifyWebhook } from '@adoption-store/client';

const secret = process.env['WEBHOOK_SECRET'] ?? '';

const server = createServer((request, response) => {
  buffer(request)
    .then((body) => {
      const { id, type, data } = verifyWebhook({ body, headers: request.headers, secret });
      if (type === 'pet.added') console.log(`${id}: ${type} ${data.id}`); // A delivery that is repeated has the same id
      response.writeHead(204).end();
    })
    .catch((error: unknown) => {
      response.writeHead(400).end(String(error));
    });
});
server.listen(Number(process.env['PORT'] ?? 8080), () => {
  console.log(server.address());
});
