import { workspace } from '@adoption-store/tooling/eslint';

// generate.js and generate-shapes.js write them.
export default [{ ignores: ['src/generated.ts', 'src/answer-shapes.ts'] }, ...workspace(import.meta.dirname)];
