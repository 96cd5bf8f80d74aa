import { createServer } from 'node:http';
import { type Admission, admit } from '@adoption-store/admission';

/** A plain server with one operation, which needs the scope `pets:read`. */
export function serverOf(admission: Admission, work: () => string) {
  return createServer((request, response) => {
    const facts = {
      rawHeaders: request.rawHeaders,
      address: request.socket.remoteAddress ?? '',
      operation: 'GET /animals',
      requestId: crypto.randomUUID(),
    };
    const answer = async () => {
      const admitted = await admit(admission, facts, ['pets:read']);
      for (const [name, value] of Object.entries(admitted.headers)) response.setHeader(name, value);
      if (!admitted.isAdmitted) {
        const { status, code, message } = admitted;
        return response.writeHead(status).end(JSON.stringify({ code, message, status }));
      }
      const body = work();
      response.end(body);
      admitted.record({ status: 200 });
      return response;
    };
    answer().catch(() => response.destroy());
  });
}
