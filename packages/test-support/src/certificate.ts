import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { folderOf } from './programs.js';

const NAMES = 'DNS:localhost,DNS:portal.localhost,IP:127.0.0.1';

/** A new self-signed certificate for names of this machine, and its key, in one PEM. */
export function makeCertificate(folder: string): { readonly certificate: string; readonly pem: string } {
  const program = join(folderOf('TLS', 'openssl', 'openssl') ?? '', 'openssl');
  const [key, certificate] = [join(folder, 'key'), join(folder, 'certificate')];
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  const subject = ['-subj', '/CN=localhost', '-addext', `subjectAltName=${NAMES}`];
  const files = ['-keyout', key, '-out', certificate];
  execFileSync(program, ['req', '-x509', ...kind, ...subject, ...files], { stdio: 'ignore' });
  const [text, keyText] = [readFileSync(certificate, 'utf8'), readFileSync(key, 'utf8')];
  rmSync(key);
  rmSync(certificate);
  return { certificate: text, pem: text + keyText };
}
