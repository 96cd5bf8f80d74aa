import { runProgram } from './command-line.js';
import { accountCommands } from './account-commands.js';

await runProgram(accountCommands);
