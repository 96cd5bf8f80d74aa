import { runProgram } from './command-line.js';
import { webhookCommands } from './webhooks/webhook-commands.js';

await runProgram(webhookCommands);
