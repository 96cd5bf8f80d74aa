import type { Password, PasswordHasher } from '@adoption-store/domain';

/** OWASP's Password Storage Cheat Sheet: argon2id, 19 MiB, two passes, one lane. About 30 ms of one core. */
const PARAMETERS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
const BEGINNING = `$argon2id$v=19$m=${PARAMETERS.memoryCost},t=${PARAMETERS.timeCost},p=${PARAMETERS.parallelism}$`;
/** A hash that is verified if there is no stored one, so that both cases take the same time. */
const DECOY = `${BEGINNING}E6haV4rDyJ5rmURNEIuu9Q$y4bp/oOeJMKUyzK/JpZwOQ4ICj6xGJcWpOnf6jUz4xc`;

/** Hashes on libuv's threads, not on the event loop. The library is loaded at the first use. */
export class Argon2PasswordHasher implements PasswordHasher {
  async hash(password: Password): Promise<string> {
    const { hash } = await import('@node-rs/argon2');
    return hash(password, PARAMETERS);
  }

  async verify(password: Password, hash: string | undefined): Promise<boolean> {
    const { verify } = await import('@node-rs/argon2');
    return (await verify(hash ?? DECOY, password)) && hash !== undefined;
  }

  isOutdated(hash: string): boolean {
    return !hash.startsWith(BEGINNING);
  }
}
