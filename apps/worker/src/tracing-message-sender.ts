import type { MessageSender } from '@adoption-store/domain';
import { parseTraceparent, type Tracing } from '@adoption-store/telemetry';

/** The sender, with each delivery a span of the trace in which its message was queued. */
export function tracingSender(sender: MessageSender, tracing: Tracing): MessageSender {
  return {
    async send(message, timeout) {
      const span = tracing.start('deliver message', {
        kind: 'consumer',
        parent: parseTraceparent(message.traceparent),
        attributes: {
          'messaging.system': 'postgresql',
          'messaging.operation.name': 'deliver',
          'messaging.operation.type': 'process',
          'messaging.destination.name': 'messages',
          'messaging.message.id': message.id,
          'adoption_store.attempt': message.failures + 1,
        },
      });
      try {
        await span.run(() => sender.send(message, timeout));
        span.end({}, false);
      } catch (error) {
        // The error's message may contain the mail server's user or the recipient.
        span.end({ 'error.type': error instanceof Error ? error.name : 'error' }, true);
        throw error;
      }
    },
  };
}
