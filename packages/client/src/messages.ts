import type { Call } from './call.js';
import type { components } from './generated.js';
import type { CallOptions, PostOptions } from './options.js';
import type { Request } from './request.js';

type Schemas = components['schemas'];
export type Message = Schemas['Message'];
export type NewMessage = Schemas['NewMessage'];

export class Messages {
  readonly #request: Request;

  constructor(request: Request) {
    this.#request = request;
  }

  /** One message, and whether it was sent. */
  get(messageId: string, options?: CallOptions): Call<Message> {
    return this.#request('GET', '/messages/{messageId}', { ...options, path: { messageId } });
  }

  /** Queues a message to the store. */
  create(message: NewMessage, options?: PostOptions): Call<Message> {
    return this.#request('POST', '/messages', { ...options, body: message });
  }
}
