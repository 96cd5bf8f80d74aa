import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { resourcesOf } from './deployment.js';
import { fieldFaults } from './kubernetes-fields.js';
import { fixtures, repository } from './trees.js';

describe('the fields of the Kubernetes manifests', () => {
  it('are ones that Kubernetes knows', () => {
    const resources = resourcesOf(join(repository, 'docker/kubernetes/overlays/production'));
    expect(resources.length).toBeGreaterThan(10);
    expect(fieldFaults(resources)).toEqual([]);
  });

  it('are told apart from mistyped, missing and outdated ones', () => {
    expect(fieldFaults(resourcesOf(join(fixtures, 'deployment/kubernetes-fields')))).toEqual(
      [
        /^Deployment mistyped: .*'"replcas"' does not exist in type 'DeploymentSpec'/,
        /^Deployment deep: .*'"readinesProbe"' does not exist in type 'Container'/,
        /^Job incomplete: Property 'name' is missing/,
        /^Service texts: Type 'string' is not assignable to type 'number'/,
        /^PodDisruptionBudget outdated: Cannot find module 'kubernetes-types\/policy\/v1beta1'/,
        /^Deployment elsewhere: .* has no exported member 'Deployment'/,
        /^ServiceAccount undefined: .*Property 'metadata' is missing/,
      ].map((fault) => expect.stringMatching(fault) as unknown),
    );
  });
});
