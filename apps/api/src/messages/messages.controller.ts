import { DEFAULT_MESSAGE_LIMIT, GetMessage, QueueMessage } from '@adoption-store/domain';
import { Turns } from '@adoption-store/infrastructure/turns';
import { formatTraceparent } from '@adoption-store/telemetry';
import { Controller, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiContext } from '../http/answers/api-context.js';
import { Idempotency } from '../idempotency/idempotency.js';
import { JsonBody } from '../http/operations/json-body.decorator.js';
import { Operation } from '../http/operations/operation.js';
import { loggedId } from '../http/edge/request-id.js';
import { traceOf } from '../http/edge/traces.js';
import { MessageId, messageJson, NewMessageBody, presentMessage, QUEUED } from './message.schema.js';

@Controller()
export class MessagesController {
  constructor(
    private readonly context: ApiContext,
    private readonly turns: Turns,
    private readonly idempotency: Idempotency,
    private readonly queueMessage: QueueMessage,
    private readonly getMessage: GetMessage,
  ) {}

  @Operation('POST /v1/messages', {
    id: 'queueMessage',
    scope: 'messages:write',
    stability: 'experimental',
    summary: 'Send a message',
    description:
      'Queues a message to the store. It is delivered soon afterwards, at least once; accounts take turns. An account ' +
      `at its limit of queued messages, ${DEFAULT_MESSAGE_LIMIT.toLocaleString('en')} by default, gets 409 \`too_many_messages\`.`,
    examples: { 'a message': { message: QUEUED.message } },
    success: { 202: ['The message has been queued.', messageJson(QUEUED)] },
  })
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

  @Operation('GET /v1/messages/{messageId}', {
    id: 'getMessage',
    scope: 'messages:read',
    stability: 'experimental',
    summary: 'Get a message',
    description: "Gets one of the account's messages with its delivery status.",
    success: { 200: ['The message.', messageJson({ ...QUEUED, status: 'sent' })] },
    refusals: [404],
  })
  async get(@MessageId() id: string, @Req() { caller }: FastifyRequest): Promise<string> {
    const { account } = caller;
    const input = { accountId: account.id, id };
    return presentMessage(await this.turns.reads.run(account, () => this.getMessage.execute(input)));
  }
}
