import { Expose } from 'class-transformer';
import { IsDefined, IsString } from 'class-validator';

/** What POST /v1/messages takes. How long a message may be is the domain's to say. */
export class NewMessageBody {
  @Expose()
  @IsString({ message: 'message must be a string' })
  @IsDefined({ message: 'message is required' })
  message!: string;
}
