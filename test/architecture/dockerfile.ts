import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isPinned, isServed, unknownSettings, unmet } from './deployment.js';
import { repository } from './trees.js';

/** The program of a health check, without its first argument, which is Node.js in the image. */
export interface HealthCheck {
  readonly app: string;
  readonly args: readonly string[];
  /** The setting whose port it asks. */
  readonly setting: string;
}

/** The unmet expectations of a Dockerfile, one sentence each. */
export function dockerfileFaults(text: string): string[] {
  const bases = [...text.matchAll(/^ARG \w+_IMAGE=(.*)$/gm)].map(([, image]) => image);
  const variables = [...text.matchAll(/^ENV (?!TURBO_)(.*)$/gm)].flatMap(([, line = '']) =>
    line.split(' ').map((pair) => pair.split('=')[0] ?? ''),
  );
  const { version } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')) as {
    readonly version: string;
  };
  const stages = stagesOf(text);
  const images = stages.filter(({ from }) => from === 'run');
  const isLabelled = (stage: string, names: readonly string[]) =>
    names.every((name) => new RegExp(`org\\.opencontainers\\.image\\.${name}=\\S`).test(stage));
  return [
    ...unmet('the Dockerfile', {
      'has pinned images': bases.length > 0 && bases.every(isPinned),
      'starts from them alone': stages.every(({ from }) => /^\$\{\w+_IMAGE\}$|^(?:build|run)$/.test(from)),
      'is not root': /^USER [1-9]\d*:[1-9]\d*$/m.test(text) && !/^USER (?:root|0)/m.test(text),
      'lets signals reach Node.js':
        /^ENTRYPOINT \["\/usr\/local\/bin\/node"\]$/m.test(text) && !/^(?:ENTRYPOINT|CMD) [^[]/m.test(text),
      'asks for readiness':
        images.length > 0 &&
        images.every(({ name, text }) => healthCheckOf(name, text)?.setting === portOf(text) && isHealthy(name, text)),
      'compiles on the platform of the builder, and runs on any':
        /^FROM --platform=\$BUILDPLATFORM \S+ AS build$/m.test(text) && !/x86_64|aarch64/.test(text),
      'has the version of package.json': new RegExp(`^ARG VERSION=${version.replaceAll('.', '\\.')}$`, 'm').test(text),
      'has its labels':
        isLabelled(stages.find(({ name }) => name === 'run')?.text ?? '', [
          'licenses',
          'source',
          'version',
          'revision',
        ]) && images.every(({ text }) => isLabelled(text, ['title', 'description'])),
      'lists the packages of each image':
        images.length > 0 && images.every(({ name, text }) => text.includes(`COPY --from=${name}-files /app .`)),
    }),
    ...unknownSettings(variables).map((each) => `the Dockerfile has ${each}, which no app reads`),
  ];
}

export function healthChecksOf(text: string): readonly HealthCheck[] {
  return stagesOf(text).flatMap(({ name, text }) => healthCheckOf(name, text) ?? []);
}

function healthCheckOf(app: string, stage: string): HealthCheck | undefined {
  const [, array] = /^HEALTHCHECK .*\\\n {2}CMD (\[.*\])$/m.exec(stage) ?? [];
  if (array === undefined) return undefined;
  const [, ...args] = JSON.parse(array) as readonly string[];
  return { app, args, setting: /process\.env\.(\w+)/.exec(args.join(' '))?.[1] ?? '' };
}

/** The setting with the first published port. A stage without ports needs no health check. */
function portOf(stage: string): string | undefined {
  const [, port] = /^EXPOSE (\d+)/m.exec(stage) ?? [];
  return port === undefined ? undefined : new RegExp(`(\\w+)=${port}\\b`).exec(stage)?.[1];
}

function isHealthy(app: string, stage: string): boolean {
  return healthCheckOf(app, stage) === undefined || (stage.includes('/readyz`') && isServed(app, '/readyz'));
}

function stagesOf(text: string): readonly { readonly from: string; readonly name: string; readonly text: string }[] {
  return text
    .split(/^(?=FROM )/m)
    .slice(1)
    .map((stage) => {
      const [, from = '', name = ''] =
        /^FROM (?:--platform=\$(?:BUILD|TARGET)PLATFORM )?(\S+)(?: AS (\S+))?/.exec(stage) ?? [];
      return { from, name, text: stage };
    });
}
