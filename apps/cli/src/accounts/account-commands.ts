import {
  type Account,
  type AccountId,
  describePlan,
  describeScopes,
  isoTime,
  PLAN_NAMES,
  PLANS,
  SCOPES,
} from '@adoption-store/domain';
import { addressOf, type Command, parse, parseList, planOf, type Program, scopesOf } from '../command-line.js';
import { accountJson, grouped, inParts, listing } from '../output.js';

const USAGE = `Usage:
  npm run -s accounts -- list [--json]
      shows each account that is open, its plan, and its scopes; with --json an
      object a line.
  npm run -s accounts -- plan EMAIL ${PLAN_NAMES.join('|')}
                              [--per-minute N --per-day N] [--unproven]
      puts an account on another plan, from its next request on:
${Object.values(PLANS)
  .map(
    ({ name, perMinute, perDay }) =>
      `        ${name}: ${grouped(perMinute)} requests a minute, ${grouped(perDay)} a day`,
  )
  .join('\n')}
        enterprise: what --per-minute and --per-day say
      Where there is SMTP, --unproven has to
      be given for an account whose holder has not proven the address.
  npm run -s accounts -- scopes EMAIL all|SCOPE,SCOPE…
      holds an account to these scopes, from its next request on: each of its
      keys has those that both name. all: also those that are added later.
      The scopes are ${SCOPES.slice(0, 4).join(', ')},
      ${SCOPES.slice(4, 7).join(', ')},
      ${SCOPES.slice(7, -1).join(', ')} and ${SCOPES.slice(-1).join('')}.
`;

export const accountCommands: Program = { commands: { list, plan: changePlan, scopes: changeScopes }, usage: USAGE };

function list(args: string[]): Command {
  const { isJson } = parseList(args, []);
  return async ({ listAccounts }, { nameOf }) => {
    const accounts = inParts<Account, AccountId>(
      (part) => listAccounts.execute(part),
      ({ id }) => id,
    );
    return listing(isJson, accounts, {
      heads: ['ID', 'ACCOUNT', 'PLAN', 'SCOPES', 'OPENED'],
      rowOf: (account) => [
        String(account.id),
        nameOf(account),
        describePlan(account.plan),
        describeScopes(account.scopes),
        isoTime(account.createdAt),
      ],
      jsonOf: accountJson,
    });
  };
}

function changePlan(args: string[]): Command {
  const { values, positionals, isOn } = parse(args, ['per-minute', 'per-day'], ['EMAIL', 'PLAN'], ['unproven']);
  const [address, name = ''] = positionals;
  const email = addressOf(address);
  const plan = planOf(name, values);
  return async ({ changePlan }, { nameOf }) => {
    const account = await changePlan.execute({ email, plan, isUnprovenFine: isOn('unproven') });
    return `the account of ${nameOf(account)} is on the plan ${describePlan(account.plan)}\n`;
  };
}

function changeScopes(args: string[]): Command {
  const [address, list = ''] = parse(args, [], ['EMAIL', 'SCOPES']).positionals;
  const email = addressOf(address);
  const scopes = scopesOf(list);
  return async ({ changeScopes }, { nameOf }) => {
    const account = await changeScopes.execute({ email, scopes });
    return `the account of ${nameOf(account)} has the scopes ${describeScopes(account.scopes)}\n`;
  };
}
