import { runProgram } from './command-line.js';
import { keyCommands } from './accounts/key-commands.js';

await runProgram(keyCommands);
