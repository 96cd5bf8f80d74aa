import type { QueryRunner } from 'typeorm';
import { SERVICE } from './data-source.js';

/** The migrations of the commits before 1.0.0. The baseline takes their place. */
export const FORMER: readonly string[] = `
  CreateAnimals1700000000000 CreateAccounts1700000001000 CreateRequestCounts1700000002000
  FollowApiKeys1700000003000 CreateOrders1700000004000 CreateMessages1700000005000
  CreateIdempotencyRecords1700000006000 AddMessageTraceparent1700000007000 AddCredentialsAndUsage1700000008000
  CreateSessions1700000009000 KnowSessions1700000020000 CreateAttempts1700000030000 ProveAddresses1700000040000
  CreateSecrets1700000050000 LimitOrders1700000060000 IndexEndsOfKeys1700000061000 IndexWhatRunsOut1700000062000
  ShareSecretsWithWriters1700000064000 IndexMessages1700000065000 QueueAccountMails1700000066000
  AddMessageRequestId1700000067000 LeaveRoomForUses1700000068000 NotifyAfterCommits1700000069000
  IndexPastCounts1700000069100 AddScopes1700000070000 CreateCategories1700000071000 IndexCategories1700000071100
  WithdrawAnimals1700000072000 DisableKeys1700000073000 FollowOperations1700000073100
  LogHoursAndRefusals1700000074000 ChangeAddresses1700000075000 ValidateKindsOfMail1700000075100
  StopFollowingKeys1700000076000 KnowProving1700000077000 CompareInNfc1700000078000 CreateEvents1700000079000
  CreateWebhooks1700000080000 ValidateKindsOfMailAgain1700000080100 FollowTheFeed1700000081000
  ForgetWebhooks1700000081100 IndexOpenTurns1700000081200 NameWhatMailsAreAbout1700000081300
  FindAddressesInOneForm1700000081400 AddFeedEpoch1700000081500 RenameCategoriesBesideAdditions1700000081600
  AddDeliveryHistory1700000081700 IndexWaitingJobs1700000082510 CreateDeliveryLines1700000082520
  DeliverMessagesInTurn1700000082530 DeliverAccountMailsInTurn1700000082540 CreateSignUps1700000082600
  MailSignUps1700000082601 RecordThePortal1700000082602 TellOwners1700000082610 NumberEvents1700000082650
  KeepPastSecretsTogether1700000082660 FindAnimalsByName1700000082690 ExplainFailedRequests1700000082700
  NoteAccessChanges1700000083000
`
  .trim()
  .split(/\s+/);

const BASELINE = { name: 'Baseline1700000100000', timestamp: 1_700_000_100_000 };

const AS_COMMIT = 'start commit 2fe64686 on it once';

/** The sessions of services, not those that migrate: they wait for the lock. */
const READ_STATE = `
  SELECT
    EXISTS (SELECT FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = '${SERVICE}') AS "isServed",
    EXISTS (SELECT FROM event_outbox) AS "hasUnpublished",
    EXISTS (SELECT FROM animals WHERE name_key IS NULL) AS "hasUnnamed"`;

/** Fills the columns that former commits left empty, and drops what 1.0.0 doesn't use. */
const CHANGES = [
  'ALTER TABLE animals ALTER name_key SET NOT NULL',

  'DROP TRIGGER accounts_forget_canonical_email ON accounts',
  'DROP FUNCTION forget_canonical_email()',
  'DROP INDEX accounts_without_canonical_email',

  // Each link counted as a mail.
  'UPDATE password_resets SET mail_id = token_hash WHERE mail_id IS NULL',
  'ALTER TABLE password_resets ALTER mail_id SET NOT NULL',

  // They sign nobody in.
  'DELETE FROM sessions WHERE num_nulls(token_hash, account_id, credential_version, begun_at, used_at) > 0',
  `ALTER TABLE sessions DROP sess, ALTER token_hash SET NOT NULL, ALTER account_id SET NOT NULL,
    ALTER credential_version SET NOT NULL, ALTER begun_at SET NOT NULL, ALTER used_at SET NOT NULL`,

  'DROP FUNCTION is_ordered(bigint), known_category(bigint), may_place_order(bigint, integer)',

  // An empty name of a key is that of no secret, so `webhooks -- secrets` counts it as unknown until it is encrypted anew.
  `UPDATE webhooks SET follows_since = coalesce(follows_since, created_at), secret_key = coalesce(secret_key, ''),
    past_secrets = (
      SELECT coalesce(jsonb_agg(past || jsonb_build_object('key', coalesce(past ->> 'key', '')) ORDER BY place), '[]')
      FROM jsonb_array_elements(past_secrets) WITH ORDINALITY AS each (past, place)
    )`,
  'ALTER TABLE webhooks ALTER follows_since SET NOT NULL, ALTER secret_key SET NOT NULL',
];

/**
 * Turns a database of the last commit before 1.0.0 into one of 1.0.0, in one transaction. Any other is left as it is.
 * From the next release on nobody needs it.
 *
 * @throws Error with one sentence if the database is of an earlier commit, or is in use.
 */
export async function takeOver(runner: QueryRunner): Promise<void> {
  if (!(await runner.hasTable('migrations'))) return;
  const rows = (await runner.query('SELECT name FROM migrations')) as readonly { readonly name: string }[];
  const names = new Set(rows.map(({ name }) => name));
  if (names.size === 0 || names.has(BASELINE.name)) return;
  requireLast(names);
  await runner.startTransaction();
  try {
    await requireQuiet(runner);
    for (const change of CHANGES) await runner.query(change);
    await runner.query('DELETE FROM migrations');
    await runner.query('INSERT INTO migrations (timestamp, name) VALUES ($1, $2)', [BASELINE.timestamp, BASELINE.name]);
    await runner.commitTransaction();
  } catch (error) {
    await runner.rollbackTransaction();
    throw error;
  }
}

/** @throws Error if the names aren't exactly those of the last commit. */
function requireLast(names: ReadonlySet<string>): void {
  const missing = FORMER.filter((name) => !names.has(name));
  const unknown = [...names].filter((name) => !FORMER.includes(name));
  if (missing.length > 0) {
    const what = `it is of an earlier commit than the last one before 1.0.0: ${missing[0]} has not run`;
    throw new Error(`${what}. Either ${AS_COMMIT}, or export the animals and import them into an empty database`);
  }
  if (unknown.length > 0)
    throw new Error(`it has migrations that no release knows, ${unknown.join(', ')}: restore its backup`);
}

/** @throws Error if a service is connected, or has left work that only a service of the last commit does. */
async function requireQuiet(runner: QueryRunner): Promise<void> {
  const [state] = (await runner.query(READ_STATE)) as [
    { readonly isServed: boolean; readonly hasUnpublished: boolean; readonly hasUnnamed: boolean },
  ];
  const { isServed, hasUnpublished, hasUnnamed } = state;
  if (isServed) throw new Error('a service is connected to it: stop all of them, make a backup, and run migrate again');
  if (hasUnpublished) throw new Error(`it has events that aren't published yet: ${AS_COMMIT}, for some seconds`);
  if (hasUnnamed) throw new Error(`it has animals without a name_key: ${AS_COMMIT}`);
}
