import { workspace } from './eslint.js';

export default workspace(import.meta.dirname);
