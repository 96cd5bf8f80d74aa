import type { Log } from '@adoption-store/telemetry';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Account, ApiKey } from '@adoption-store/domain';

const HEALTH = ['/livez', '/readyz'];

/** Logs one line per request. It has the route, not the address, which may contain personal data. */
export function logRequests(fastify: FastifyInstance, { logger }: Pick<Log, 'logger'>): void {
  fastify.addHook('onResponse', (request, { statusCode: status, elapsedTime }, done) => {
    const { url: route = '*' } = request.routeOptions;
    // Successful health checks aren't logged: probes repeat them every few seconds.
    if (status >= 500 || !HEALTH.includes(route)) {
      const duration = Math.round(elapsedTime * 1_000) / 1_000;
      logger.info({ request_id: request.id, method: request.method, route, status, duration_ms: duration }, 'request');
    }
    done();
  });
}

/** What happened to an account. Operators search for these words. */
type SecurityEvent =
  | 'signed_up'
  | 'signed_in'
  | 'wrong_password'
  | 'locked_out'
  | 'signed_out'
  | 'signed_out_everywhere'
  | 'password_changed'
  | 'password_reset'
  | 'address_change_requested'
  | 'address_changed'
  | 'access_ended'
  | 'account_closed'
  | 'key_made'
  | 'key_rotated'
  | 'key_disabled'
  | 'key_enabled'
  | 'key_revoked';

/**
 * Logs one line, whatever `LOG_LEVEL` and `ACCESS_LOG` are. It has no e-mail address, password or token.
 *
 * @param account undefined for an address that has no account.
 */
export function logSecurity(
  { id, ip, log }: FastifyRequest,
  event: SecurityEvent,
  account: Pick<Account, 'id'> | undefined,
  key?: Pick<ApiKey, 'id'>,
): void {
  const fields = { event, request_id: id, account_id: account?.id.toString(), key_id: key?.id.toString(), client: ip };
  log.child({}, { level: 'info' }).info(fields, 'security');
}
