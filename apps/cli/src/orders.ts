import { runProgram } from './command-line.js';
import { orderCommands } from './orders/order-commands.js';

await runProgram(orderCommands);
