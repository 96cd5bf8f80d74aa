import { folderOf } from '@adoption-store/test-support';

export { makeCertificate } from '@adoption-store/test-support';

export const OPENSSL = folderOf('TLS', 'openssl', 'openssl');
