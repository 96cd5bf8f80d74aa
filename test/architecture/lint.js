/**
 * Prints, as JSON, the messages of each workspace's own restrictions for each piece of code. It is a separate process,
 * because ESLint's configuration is ESM and Jest runs CommonJS here.
 */
import { join } from 'node:path';
import { ESLint, Linter } from 'eslint';
import tseslint from 'typescript-eslint';

const { repository, workspaces, pieces } = JSON.parse(process.argv[2]);
const languageOptions = { parser: tseslint.parser, parserOptions: { tsconfigRootDir: repository } };
const linter = new Linter();
const found = {};
for (const workspace of workspaces) {
  const eslint = new ESLint({ cwd: join(repository, workspace) });
  found[workspace] = {};
  for (const { file, code } of pieces)
    found[workspace][code] = messages(code, await eslint.calculateConfigForFile(file));
}
process.stdout.write(JSON.stringify(found));

/** Only those rules, because the others need types, and whole files. */
function messages(code, { rules }) {
  const restrictions = Object.entries(rules).filter(([name]) => name.startsWith('no-restricted-'));
  const config = { files: ['**/*.ts'], languageOptions, rules: Object.fromEntries(restrictions) };
  return linter.verify(code, [config], 'code.ts').map(({ message }) => message);
}
