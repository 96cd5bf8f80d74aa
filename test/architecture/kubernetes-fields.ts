import { join } from 'node:path';
import ts from 'typescript';
import type { Tree } from './deployment.js';

// Never written: the compiler reads it from memory, and finds kubernetes-types from here.
const FILE = join(__dirname, 'manifests-as-expressions.ts');

/**
 * Each field of a resource that Kubernetes doesn't know, that has another type there, or that is missing. The types are
 * generated from Kubernetes' own OpenAPI description, and the compiler refuses a literal with a property too many.
 */
export function fieldFaults(resources: readonly Tree[]): string[] {
  const text = resources.map((resource) => `(${JSON.stringify(resource)}) satisfies ${typeOf(resource)};\n`).join('');
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: [],
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
  };
  const host = ts.createCompilerHost(options);
  const program = ts.createProgram([FILE], options, {
    ...host,
    fileExists: (path) => path === FILE || host.fileExists(path),
    getSourceFile: (path, language) =>
      path === FILE ? ts.createSourceFile(path, text, language) : host.getSourceFile(path, language),
  });
  const faults = ts.getPreEmitDiagnostics(program).map(({ file, start = 0, messageText }) => {
    const resource = resources[file?.getLineAndCharacterOfPosition(start).line ?? -1];
    return `${nameOf(resource)}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`;
  });
  // An unknown type is told at each of its two mentions.
  return [...new Set(faults)];
}

function typeOf({ apiVersion, kind }: Tree): string {
  const [group, version] = /^(?:(\w+)(?:\.k8s\.io)?\/)?(\w+)$/.exec(String(apiVersion))?.slice(1) ?? [];
  const type = `import('kubernetes-types/${group ?? 'core'}/${version ?? ''}').${String(kind)}`;
  return `${type} & Required<Pick<${type}, 'apiVersion' | 'kind' | 'metadata'>>`;
}

function nameOf(resource: Tree | undefined): string {
  const { name } = (resource?.['metadata'] ?? {}) as Tree;
  return `${String(resource?.['kind'])} ${String(name)}`;
}
