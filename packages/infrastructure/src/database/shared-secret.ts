/** Runs a statement on the database. */
export type Query = (text: string, values: unknown[]) => Promise<{ readonly rows: readonly unknown[] }>;

const INSUFFICIENT_PRIVILEGE = '42501';

/**
 * A secret that all processes on the database share: the first to ask for it makes it. It is replaced by deleting its
 * row of the table `secrets`.
 *
 * @throws Error with one sentence where another role owns the table.
 */
export async function sharedSecret(query: Query, name: string): Promise<string> {
  try {
    await query('INSERT INTO secrets (name) VALUES ($1) ON CONFLICT (name) DO NOTHING', [name]);
    const { rows } = await query('SELECT value FROM secrets WHERE name = $1', [name]);
    const [row] = rows as readonly { readonly value: string }[];
    if (row !== undefined) return row.value;
  } catch (error) {
    if ((error as { readonly code?: unknown }).code !== INSUFFICIENT_PRIVILEGE) throw error;
  }
  throw new Error(
    `The secret of the ${name} can't be kept in the database: its table secrets belongs to another role.`,
  );
}
