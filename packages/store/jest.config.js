import preset from '@adoption-store/test-support/jest';

export default { ...preset, globals: { migrations: '@adoption-store/infrastructure/testing' } };
