import { runProgram } from './command-line.js';
import { messageCommands } from './message-commands.js';

await runProgram(messageCommands);
