import { type Account, type AccountId, describePlan, PLAN_NAMES } from '@adoption-store/domain';
import { addressOf, type Command, parse, planOf, runCommand } from './command-line.js';
import { inParts, table } from './output.js';

const USAGE = `Usage:
  npm run -s accounts -- list
      shows each account that is open, and its plan.
  npm run -s accounts -- plan EMAIL ${PLAN_NAMES.join('|')}
                              [--per-minute N --per-day N]
      puts an account on another plan, from its next request on; enterprise
      takes --per-minute and --per-day.
`;

await runCommand({ list, plan: changePlan }, USAGE);

function list(args: string[]): Command {
  parse(args, []);
  return async ({ listAccounts }) => {
    const accounts = inParts<Account, AccountId>(
      (part) => listAccounts.execute(part),
      ({ id }) => id,
    );
    return table(['ID', 'ACCOUNT', 'PLAN', 'OPENED'], rowsOf(accounts));
  };
}

async function* rowsOf(parts: AsyncIterable<readonly Account[]>) {
  for await (const accounts of parts) {
    yield accounts.map(({ id, email, plan, createdAt }) => [
      String(id),
      email,
      describePlan(plan),
      new Date(createdAt).toISOString(),
    ]);
  }
}

function changePlan(args: string[]): Command {
  const { values, positionals } = parse(args, ['per-minute', 'per-day'], ['EMAIL', 'PLAN']);
  const [address, name = ''] = positionals;
  const email = addressOf(address);
  const plan = planOf(name, values);
  return async ({ changePlan }) => {
    const account = await changePlan.execute({ email, plan });
    return `the account of ${account.email} is on the plan ${describePlan(account.plan)}\n`;
  };
}
