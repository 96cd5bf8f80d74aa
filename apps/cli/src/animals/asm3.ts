import type { Fields, ImportRow, NewAnimal, PetStatus } from '@adoption-store/domain';
import { type Cells, csvRows } from './csv-rows.js';
import { type CategoryOf, type ReadRows, rowOf } from './file-format.js';
import { quoted, RowError } from './refusals.js';

// https://github.com/sheltermanager/asm3: src/asm3/csvimport.py writes the columns, src/asm3/movement.py numbers the
// movements.
const STATUSES: Readonly<Record<string, PetStatus>> = {
  '': 'available',
  0: 'available', // on the shelter
  1: 'sold', // adopted
  2: 'available', // fostered
  3: 'sold', // transferred
  4: 'pending', // escaped
  5: 'sold', // reclaimed
  6: 'pending', // stolen
  7: 'sold', // released
  8: 'available', // at a retailer
};

const READ = ['ANIMALNAME', 'ANIMALSPECIES', 'MOVEMENTTYPE', 'ANIMALNOTFORADOPTION'];
/** Columns of animals that are left out. Their values are counted in the report, as this store has no such fields. */
const OMITTED = ['ANIMALDECEASEDDATE', 'ANIMALNONSHELTER'];

export const readAsm3: ReadRows = (input, reading) => {
  const { omissions, categoryOf } = reading;
  let lastCode = '';
  return csvRows(input, reading, {
    // Every export has these. Without one, dead, foreign or reserved animals would be imported as available.
    required: [...READ, ...OMITTED],
    known: READ,
    isEmpty,
    rowOf: (texts, line) => {
      // Here `None` is a real name, because in ASM3 every animal has one.
      const cells: Cells = (column) => {
        if (column === 'ANIMALNAME') return texts(column);
        return isEmpty(texts(column)) ? '' : texts(column).trim();
      };
      const code = cells('ANIMALCODE');
      // ASM3 writes additional rows for the vaccinations, tests, medicines, costs, logs and pictures of an animal.
      const isOfLast = code !== '' && code === lastCode && cells('ANIMALSPECIES') === '';
      lastCode = code;
      const reason = isOfLast ? 'further rows of an animal' : reasonToOmit(cells);
      if (reason === undefined) return animalRow(cells, line, categoryOf);
      omissions.addRow(reason);
      return undefined;
    },
  });
};

/** ASM3 writes Python's `None` for a missing value. */
function isEmpty(cell: string): boolean {
  return ['', 'None'].includes(cell.trim());
}

function reasonToOmit(cells: Cells): string | undefined {
  if (cells('ANIMALDECEASEDDATE') !== '') return 'deceased animals';
  return isYes(cells('ANIMALNONSHELTER')) ? 'animals that are not the shelter’s' : undefined;
}

function animalRow(cells: Cells, line: number, categoryOf: CategoryOf): ImportRow {
  return rowOf(line, () => {
    const species = cells('ANIMALSPECIES');
    const categoryId = categoryOf(species);
    if (categoryId === undefined) throw new RowError(`ANIMALSPECIES ${quoted(species)} has no category`);
    return { name: cells('ANIMALNAME'), categoryId, status: statusOf(cells) } satisfies Fields<NewAnimal>;
  });
}

function statusOf(cells: Cells): PetStatus {
  const movement = cells('MOVEMENTTYPE');
  const status = Object.hasOwn(STATUSES, movement) ? STATUSES[movement] : undefined;
  if (status === undefined) throw new RowError(`MOVEMENTTYPE ${quoted(movement)} has no status`);
  return status === 'available' && isYes(cells('ANIMALNOTFORADOPTION')) ? 'pending' : status;
}

/** The rule by which ASM3 itself reads yes and no. */
function isYes(text: string): boolean {
  return text !== '' && text !== '0' && !/^n/i.test(text);
}
