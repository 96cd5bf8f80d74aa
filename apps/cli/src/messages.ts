import { runProgram } from './command-line.js';
import { messageCommands } from './messages/message-commands.js';

await runProgram(messageCommands);
