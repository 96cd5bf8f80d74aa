import { execFile, spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';

const test = join(__dirname, '..');
const root = join(test, '..');
/** `npm run generators` has installed those here that this workspace hasn't. */
const INSTALLED = process.env['GENERATORS'];
const PLACES = [
  ...(INSTALLED === undefined ? [] : [INSTALLED]),
  join(test, 'node_modules'),
  join(root, 'node_modules'),
];

interface Generator {
  readonly name: string;
  /** The settings beside the defaults, as the table shows them. */
  readonly settings: string;
  /** The generator first, then what its code imports. */
  readonly packages: readonly string[];
  /** In programs/. */
  readonly program: string;
  readonly files?: Readonly<Record<string, string>>;
  readonly command: readonly [program: string, ...args: string[]];
}

const OPENAPI_TYPESCRIPT = { name: 'openapi-typescript', packages: ['openapi-typescript', 'openapi-fetch'] };
const HEY_API = { name: '@hey-api/openapi-ts', packages: ['@hey-api/openapi-ts'] };
const ORVAL = { name: 'orval', packages: ['orval'] };

const BIGINTS = `import { readFileSync, writeFileSync } from 'node:fs';
import openapiTypescript, { astToString } from 'openapi-typescript';
import ts from 'typescript';

const bigint = ts.factory.createKeywordTypeNode(ts.SyntaxKind.BigIntKeyword);
const types = await openapiTypescript(JSON.parse(readFileSync('openapi.json', 'utf8')), {
  transform: ({ format }) => (format === 'int64' ? bigint : undefined),
});
writeFileSync('generated.ts', astToString(types));
`;

export const GENERATORS: readonly Generator[] = [
  {
    ...OPENAPI_TYPESCRIPT,
    settings: 'none',
    program: 'openapi-typescript.ts',
    command: ['openapi-typescript', 'openapi.json', '-o', 'generated.ts'],
  },
  {
    ...OPENAPI_TYPESCRIPT,
    settings: '`transform` to bigint, `bodySerializer`, `fetch`',
    program: 'openapi-typescript.exact.ts',
    files: { 'bigints.mjs': BIGINTS },
    command: ['node', 'bigints.mjs'],
  },
  {
    ...HEY_API,
    settings: 'none',
    program: 'hey-api.ts',
    command: ['openapi-ts', '-i', 'openapi.json', '-o', 'generated'],
  },
  {
    ...HEY_API,
    settings: '`@hey-api/transformers`, `bodySerializer`, `fetch`',
    program: 'hey-api.exact.ts',
    files: {
      'openapi-ts.config.mjs': `export default {
  input: 'openapi.json',
  output: 'generated',
  plugins: [
    '@hey-api/client-fetch',
    { name: '@hey-api/transformers', bigInt: true, dates: false },
    { name: '@hey-api/sdk', transformer: true },
  ],
};
`,
    },
    command: ['openapi-ts', '-f', 'openapi-ts.config.mjs'],
  },
  {
    name: 'oazapfts',
    settings: 'none',
    packages: ['oazapfts', '@oazapfts/runtime'],
    program: 'oazapfts.ts',
    command: ['oazapfts', 'openapi.json', 'generated.ts'],
  },
  {
    ...ORVAL,
    settings: '`client: fetch`',
    program: 'orval.ts',
    files: {
      'orval.config.mjs': `export default {
  store: {
    input: 'openapi.json',
    output: { target: 'generated.ts', client: 'fetch', baseUrl: 'http://generated.example/v1' },
  },
};
`,
    },
    command: ['orval', '--config', 'orval.config.mjs'],
  },
  {
    ...ORVAL,
    settings: '`client: axios-functions`, `useBigInt`, `mutator`',
    program: 'orval.exact.ts',
    files: {
      'orval.config.mjs': `export default {
  store: {
    input: 'openapi.json',
    output: {
      target: 'generated.ts',
      client: 'axios-functions',
      override: { useBigInt: true, mutator: { path: './orval.request.ts', name: 'send' } },
    },
  },
};
`,
    },
    command: ['orval', '--config', 'orval.config.mjs'],
  },
  {
    name: 'swagger-typescript-api',
    settings: 'none',
    packages: ['swagger-typescript-api'],
    program: 'swagger-typescript-api.ts',
    command: ['swagger-typescript-api', 'generate', '--path', 'openapi.json', '-o', 'generated'],
  },
];

/** Those that are installed. */
export const AVAILABLE = GENERATORS.filter(({ packages }) => packages.every((each) => placeOf(each) !== undefined));

function placeOf(name: string): string | undefined {
  return PLACES.map((place) => join(place, name)).find((path) => existsSync(path));
}

export function versionOf({ packages }: Generator): string {
  const versions = packages.map(
    (name) =>
      (JSON.parse(readFileSync(join(placeOf(name) ?? '', 'package.json'), 'utf8')) as { version: string }).version,
  );
  return versions.join(', ');
}

const HELPERS = ['steps.ts', 'exact.ts', 'orval.request.ts'];

/** A generated client in a folder of its own. */
export class Generated {
  constructor(
    readonly generator: Generator,
    readonly folder: string,
    description: string,
  ) {
    const { program, files = {}, packages } = generator;
    for (const name of [...HELPERS, program]) copyFileSync(join(__dirname, 'programs', name), join(folder, name));
    const all = { ...files, 'openapi.json': description, 'package.json': '{"type":"module"}' };
    for (const [name, text] of Object.entries(all)) writeFileSync(join(folder, name), text);
    for (const name of [...packages, 'lossless-json', 'typescript', '@types/node', 'undici-types']) this.install(name);
  }

  private install(name: string): void {
    const link = join(this.folder, 'node_modules', name);
    mkdirSync(dirname(link), { recursive: true });
    const place = placeOf(name);
    if (place !== undefined) symlinkSync(place, link);
  }

  /** Runs the generator. */
  generate(): void {
    const [program, ...args] = this.generator.command;
    this.execute(program, args);
  }

  /** The errors of the compiler in the program and in the generated code. */
  compilerErrors(): string {
    const options = [
      '--noEmit',
      '--strict',
      '--skipLibCheck',
      '--target',
      'es2022',
      '--lib',
      'es2022,dom,dom.iterable',
    ];
    const modules = ['--module', 'esnext', '--moduleResolution', 'bundler', '--types', 'node'];
    const { stdout } = this.spawn('tsc', [...options, ...modules, this.generator.program]);
    return stdout;
  }

  /** The output of the program. */
  async run(environment: Readonly<Record<string, string>>): Promise<string> {
    const outfile = join(this.folder, 'program.mjs');
    await build({
      entryPoints: [join(this.folder, this.generator.program)],
      outfile,
      bundle: true,
      platform: 'node',
      format: 'esm',
      logLevel: 'silent',
    });
    // Not spawnSync: the API that it calls is in this process.
    const { stdout } = await promisify(execFile)(process.execPath, [outfile], {
      env: { ...process.env, ...environment },
    });
    return stdout;
  }

  private execute(program: string, args: readonly string[]): void {
    const { status, stdout, stderr } = this.spawn(program, args);
    if (status !== 0) throw new Error(`${program}: ${stdout}${stderr}`);
  }

  private spawn(program: string, args: readonly string[]) {
    const bins = PLACES.map((place) => join(place, '.bin'));
    const PATH = [...bins, process.env['PATH'] ?? ''].join(':');
    return spawnSync(program, args, { cwd: this.folder, env: { ...process.env, PATH }, encoding: 'utf8' });
  }
}
