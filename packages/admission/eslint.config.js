import { domain } from '@adoption-store/tooling/eslint';

export default domain(import.meta.dirname);
