import { workspace } from '@adoption-store/tooling/eslint';

const browser = Object.fromEntries(
  ['addEventListener', 'document', 'history', 'location', 'navigator', 'setTimeout'].map((name) => [name, 'readonly']),
);

export default [...workspace(import.meta.dirname), { files: ['public/*.js'], languageOptions: { globals: browser } }];
