import { animalCommands } from './animals/commands.js';
import { runProgram } from './command-line.js';

await runProgram(animalCommands);
