/**
 * Loaded into a process before its program. It replaces the current time with the one in the file that TEST_CLOCK
 * names.
 */
import { readFileSync } from 'node:fs';

const file = process.env.TEST_CLOCK;
Date.now = () => Number(readFileSync(file, 'utf8'));
