import { workspace } from '@adoption-store/tooling/eslint';

// generate.js writes it.
export default [{ ignores: ['src/generated.ts'] }, ...workspace(import.meta.dirname)];
