import { runProgram } from './command-line.js';
import { accountCommands } from './accounts/account-commands.js';

await runProgram(accountCommands);
