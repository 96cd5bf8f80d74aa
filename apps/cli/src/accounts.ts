import { describePlan, PLAN_NAMES } from '@adoption-store/domain';
import { addressOf, type Command, parse, planOf, runCommand, table } from './command-line.js';

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
    const accounts = await listAccounts.execute();
    const rows = accounts.map(({ id, email, plan, createdAt }) => [
      String(id),
      email,
      describePlan(plan),
      new Date(createdAt).toISOString(),
    ]);
    return table([['ID', 'ACCOUNT', 'PLAN', 'OPENED'], ...rows]);
  };
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
