import { messageSchemas } from './message.schema.js';

/** What POST /v1/messages takes. How long a message may be is the domain's to say. */
export class NewMessageBody {
  @messageSchemas.field('NewMessage')
  readonly message!: string;
}
