import { readFile } from 'node:fs/promises';
import { createConfig, lint } from '@redocly/openapi-core';
import spectral from '@stoplight/spectral-core';
import rulesets from '@stoplight/spectral-rulesets';

/** Checks OpenAPI descriptions with Redocly's recommended rules and Spectral's `oas`. Warnings fail too. */
for (const file of process.argv.slice(2)) {
  const problems = [...(await redocly(file)), ...(await spectralOas(file))];
  for (const problem of problems) console.error(`${file}: ${problem}`);
  if (problems.length > 0) process.exitCode = 1;
}

async function redocly(file) {
  const config = await createConfig({ extends: ['recommended'] });
  const found = await lint({ ref: file, config });
  return found.map(({ ruleId, message, location: [place] }) => `redocly ${ruleId} at ${place?.pointer}: ${message}`);
}

async function spectralOas(file) {
  const linter = new spectral.Spectral();
  // The rule is for OpenAPI 3.0. Since 3.1 any security scheme may list roles; ours lists scopes.
  const rules = { 'oas3-operation-security-defined': 'off' };
  linter.setRuleset({ extends: [rulesets.oas], rules });
  const found = await linter.run(await readFile(file, 'utf8'));
  return found.map(({ code, path, message }) => `spectral ${code} at /${path.join('/')}: ${message}`);
}
