import { IsDefined, IsString } from '../http/class-validator.js';

/** What POST /v1/messages takes. How long a message may be is the domain's to say. */
export class NewMessageBody {
  @IsString({ message: 'message must be a string' })
  @IsDefined({ message: 'message is required' })
  message!: string;
}
