import { animalCommands } from './animals/animal-commands.js';
import { runProgram } from './command-line.js';

await runProgram(animalCommands);
