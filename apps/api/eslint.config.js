import { workspace } from '@adoption-store/tooling/eslint';

const GLOBALS =
  'addEventListener document fetch history location matchMedia navigator requestAnimationFrame setTimeout URL';
const browser = Object.fromEntries(GLOBALS.split(' ').map((name) => [name, 'readonly']));

export default [
  ...workspace(import.meta.dirname),
  { files: ['src/docs/page/*.js'], languageOptions: { globals: browser } },
];
