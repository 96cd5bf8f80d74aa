import preset from '@adoption-store/test-support/jest';

export default { ...preset, globals: { databaseTemplate: 'test/database-template.ts' } };
