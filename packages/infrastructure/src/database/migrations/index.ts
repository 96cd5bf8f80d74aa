import { CreateAnimals1700000000000 } from './1700000000000-create-animals.js';
import { CreateAccounts1700000001000 } from './1700000001000-create-accounts.js';
import { CreateRequestCounts1700000002000 } from './1700000002000-create-request-counts.js';
import { FollowApiKeys1700000003000 } from './1700000003000-follow-api-keys.js';
import { CreateOrders1700000004000 } from './1700000004000-create-orders.js';
import { CreateMessages1700000005000 } from './1700000005000-create-messages.js';
import { CreateIdempotencyRecords1700000006000 } from './1700000006000-create-idempotency-records.js';
import { AddMessageTraceparent1700000007000 } from './1700000007000-add-message-traceparent.js';
import { AddCredentialsAndUsage1700000008000 } from './1700000008000-add-credentials-and-usage.js';
import { CreateSessions1700000009000 } from './1700000009000-create-sessions.js';
import { KnowSessions1700000020000 } from './1700000020000-know-sessions.js';
import { CreateAttempts1700000030000 } from './1700000030000-create-attempts.js';
import { ProveAddresses1700000040000 } from './1700000040000-prove-addresses.js';
import { CreateSecrets1700000050000 } from './1700000050000-create-secrets.js';
import { LimitOrders1700000060000 } from './1700000060000-limit-orders.js';
import { IndexEndsOfKeys1700000061000 } from './1700000061000-index-ends-of-keys.js';
import { IndexWhatRunsOut1700000062000 } from './1700000062000-index-what-runs-out.js';
import { ShareSecretsWithWriters1700000064000 } from './1700000064000-share-secrets-with-writers.js';
import { IndexMessages1700000065000 } from './1700000065000-index-messages.js';
import { QueueAccountMails1700000066000 } from './1700000066000-queue-account-mails.js';
import { AddMessageRequestId1700000067000 } from './1700000067000-add-message-request-id.js';
import { LeaveRoomForUses1700000068000 } from './1700000068000-leave-room-for-uses.js';
import { NotifyAfterCommits1700000069000 } from './1700000069000-notify-after-commits.js';
import { IndexPastCounts1700000069100 } from './1700000069100-index-past-counts.js';
import { AddScopes1700000070000 } from './1700000070000-add-scopes.js';
import { CreateCategories1700000071000 } from './1700000071000-create-categories.js';
import { IndexCategories1700000071100 } from './1700000071100-index-categories.js';
import { WithdrawAnimals1700000072000 } from './1700000072000-withdraw-animals.js';
import { DisableKeys1700000073000 } from './1700000073000-disable-keys.js';
import { FollowOperations1700000073100 } from './1700000073100-follow-operations.js';
import { LogHoursAndRefusals1700000074000 } from './1700000074000-log-hours-and-refusals.js';
import { ChangeAddresses1700000075000 } from './1700000075000-change-addresses.js';
import { ValidateKindsOfMail1700000075100 } from './1700000075100-validate-kinds-of-mail.js';
import { StopFollowingKeys1700000076000 } from './1700000076000-stop-following-keys.js';

/** In the order in which they run. A released migration is never edited. */
export const migrations = [
  CreateAnimals1700000000000,
  CreateAccounts1700000001000,
  CreateRequestCounts1700000002000,
  FollowApiKeys1700000003000,
  CreateOrders1700000004000,
  CreateMessages1700000005000,
  CreateIdempotencyRecords1700000006000,
  AddMessageTraceparent1700000007000,
  AddCredentialsAndUsage1700000008000,
  CreateSessions1700000009000,
  KnowSessions1700000020000,
  CreateAttempts1700000030000,
  ProveAddresses1700000040000,
  CreateSecrets1700000050000,
  LimitOrders1700000060000,
  IndexEndsOfKeys1700000061000,
  IndexWhatRunsOut1700000062000,
  ShareSecretsWithWriters1700000064000,
  IndexMessages1700000065000,
  QueueAccountMails1700000066000,
  AddMessageRequestId1700000067000,
  LeaveRoomForUses1700000068000,
  NotifyAfterCommits1700000069000,
  IndexPastCounts1700000069100,
  AddScopes1700000070000,
  CreateCategories1700000071000,
  IndexCategories1700000071100,
  WithdrawAnimals1700000072000,
  DisableKeys1700000073000,
  FollowOperations1700000073100,
  LogHoursAndRefusals1700000074000,
  ChangeAddresses1700000075000,
  ValidateKindsOfMail1700000075100,
  StopFollowingKeys1700000076000,
];
