import { workspace } from '@adoption-store/tooling/eslint';

export default workspace(import.meta.dirname);
