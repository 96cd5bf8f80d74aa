import { GetMessage, QueueMessage } from '@adoption-store/domain';
import { formatTraceparent } from '@adoption-store/telemetry';
import { Controller, Get, HttpCode, Param, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiContext } from '../http/api-context.js';
import { Idempotency } from '../idempotency/idempotency.js';
import { JsonBody } from '../http/json-body.decorator.js';
import { RequiresScope } from '../http/required-scope.js';
import { Stability } from '../http/stability.js';
import { loggedId } from '../http/request-id.js';
import { traceOf } from '../http/traces.js';
import { NewMessageBody } from './new-message.body.js';
import { presentMessage } from './present-message.js';

@Controller('v1/messages')
@Stability('experimental')
export class MessagesController {
  constructor(
    private readonly context: ApiContext,
    private readonly idempotency: Idempotency,
    private readonly queueMessage: QueueMessage,
    private readonly getMessage: GetMessage,
  ) {}

  @Post()
  @HttpCode(202)
  @RequiresScope('messages:write')
  async queue(
    @JsonBody(NewMessageBody) { message: text }: NewMessageBody,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    return this.idempotency.once(request, reply, async (transaction) => {
      const input = {
        accountId: request.caller.account.id,
        text,
        traceparent: formatTraceparent(traceOf(request)),
        requestId: loggedId(request.id),
      };
      const message = await this.queueMessage.execute(input, transaction);
      return {
        body: presentMessage(message),
        location: `${this.context.origin(request)}/v1/messages/${message.id}`,
      };
    });
  }

  @Get(':messageId')
  @RequiresScope('messages:read')
  async get(@Param('messageId') id: string, @Req() { caller }: FastifyRequest): Promise<string> {
    return presentMessage(await this.getMessage.execute({ accountId: caller.account.id, id }));
  }
}
