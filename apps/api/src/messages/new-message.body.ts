import { messageSchemas } from './message.schema.js';

/** The body of POST /v1/messages. The domain limits the length of a message. */
export class NewMessageBody {
  @messageSchemas.field('NewMessage')
  readonly message!: string;
}
