import { runProgram } from './command-line.js';
import { keyCommands } from './key-commands.js';

await runProgram(keyCommands);
