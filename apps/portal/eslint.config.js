import { workspace } from '@adoption-store/tooling/eslint';

const browser = Object.fromEntries(
  `addEventListener clearTimeout document fetch history localStorage location navigator setTimeout`
    .split(' ')
    .map((name) => [name, 'readonly']),
);

export default [...workspace(import.meta.dirname), { files: ['public/*.js'], languageOptions: { globals: browser } }];
