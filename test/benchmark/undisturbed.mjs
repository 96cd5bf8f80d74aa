import { readFileSync } from 'node:fs';

/** Share of the processors' time that a virtual machine's host may have given to others meanwhile. */
const MOST_STOLEN = 0.02;
const MOST_TRIES = 10;

/**
 * What `measure` comes to while the machine has its processors to itself: where its host has taken them away it is
 * measured again, ten times at the most. Such windows came to half as much, whoever was loaded.
 */
export async function undisturbed(measure) {
  for (let tries = 1; ; tries++) {
    const before = processorTimes();
    const result = await measure();
    const after = processorTimes();
    const stolen = (after.stolen - before.stolen) / (after.all - before.all);
    if (tries === MOST_TRIES || !(stolen > MOST_STOLEN)) return result;
  }
}

/** Ticks of all processors, from /proc/stat (proc(5)); none where there is no such file. */
function processorTimes() {
  const [cpu = ''] = read('/proc/stat').split('\n');
  const ticks = cpu.split(/\s+/).slice(1, 9).map(Number);
  return { all: ticks.reduce((sum, each) => sum + each, 0), stolen: ticks[7] };
}

function read(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
