import { CreateAnimals1700000000000 } from './1700000000000-create-animals.js';
import { CreateAccounts1700000001000 } from './1700000001000-create-accounts.js';

/** In the order they are run. One that has been released is never edited. */
export const migrations = [CreateAnimals1700000000000, CreateAccounts1700000001000];
