import { workspace } from '@adoption-store/tooling/eslint';

const browser = Object.fromEntries(
  ['document', 'fetch', 'location', 'matchMedia', 'URL'].map((name) => [name, 'readonly']),
);

export default [
  ...workspace(import.meta.dirname),
  { files: ['src/docs/page/*.js'], languageOptions: { globals: browser } },
];
