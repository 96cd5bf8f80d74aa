import { type IncomingMessage, request, type ServerResponse } from 'node:http';

/** Answers as a proxy does: with what the server at this origin answers to the same request. */
export function forward(incoming: IncomingMessage, answer: ServerResponse, origin: string, path = incoming.url): void {
  const { method, headers } = incoming;
  const onward = request(`${origin}${path}`, { method, headers }, (response) => {
    answer.writeHead(response.statusCode ?? 502, response.headers);
    response.pipe(answer);
  });
  onward.on('error', () => answer.destroy());
  incoming.pipe(onward);
}
