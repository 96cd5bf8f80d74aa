import type { Account, ApiKey } from '@adoption-store/domain';
import type { FastifyRequest } from 'fastify';

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
