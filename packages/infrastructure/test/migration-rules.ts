/** The statements of a migration, in order, and whether they are one transaction. */
export interface Migrated {
  readonly statements: readonly string[];
  readonly isTransaction: boolean;
}

interface Rule {
  readonly pattern: RegExp;
  /** Whether the rule also holds for a table that the migration itself creates. */
  readonly isForNew?: true;
  readonly advice: string;
}

/** The first group of each pattern is the table, where there is one. */
const RULES: readonly Rule[] = [
  {
    pattern: /^CREATE (?:UNIQUE )?INDEX (?!CONCURRENTLY).*? ON (?:ONLY )?(\w+)/i,
    advice: 'build the index CONCURRENTLY: otherwise no row is written meanwhile',
  },
  {
    pattern: /^ALTER TABLE (\w+) .*ADD (?:CONSTRAINT \w+ )?(?:CHECK|FOREIGN KEY)(?!.*NOT VALID)/i,
    advice: 'add the constraint NOT VALID, and validate it in a later migration',
  },
  {
    pattern: /^ALTER TABLE (\w+) .*ADD (?:CONSTRAINT \w+ )?(?:UNIQUE|PRIMARY KEY|EXCLUDE)(?!.*USING INDEX)/i,
    advice: 'build the unique index CONCURRENTLY, and add the constraint USING INDEX',
  },
  {
    pattern: /^ALTER TABLE (\w+) .*ADD COLUMN [^,]*\b(?:REFERENCES|CHECK|UNIQUE|PRIMARY KEY)\b/i,
    advice: 'add the column alone, then its constraint NOT VALID',
  },
  {
    pattern: /^ALTER TABLE (\w+) .*ADD COLUMN [^,]*\b(?:STORED|IDENTITY|\w*SERIAL|\w*random\w*|clock_timestamp)\b/i,
    advice: 'such a column rewrites the table: add it empty, and fill it in batches',
  },
  {
    pattern: /^ALTER TABLE (\w+) .*ADD COLUMN (?![^,]*\bDEFAULT\b)[^,]*\bNOT NULL\b/i,
    advice: 'a new column is nullable or has a default',
  },
  {
    pattern: /^ALTER TABLE (\w+) .*ALTER (?:COLUMN )?\w+ (?:SET DATA )?TYPE\b/i,
    advice: 'a changed type rewrites the table: add another column',
  },
  {
    pattern: /^ALTER TABLE (\w+) .*SET NOT NULL/i,
    advice: 'SET NOT NULL reads the whole table: validate a CHECK (… IS NOT NULL) instead',
  },
  { pattern: /^ALTER TABLE (\w+) .*RENAME\b/i, advice: 'the version before uses the old name' },
  {
    pattern: /^(?:UPDATE|DELETE FROM) (\w+)/i,
    advice: 'change rows in batches, each in its own transaction (transaction = false)',
  },
  { pattern: /^(?:LOCK|CLUSTER|VACUUM|REINDEX)\b/i, isForNew: true, advice: 'it locks a table for long' },
];

const GIVES_UP_EARLY = /^SET LOCAL lock_timeout = '\d{1,3}ms'$/i;

/** The rules that a migration breaks. It runs while the previous version serves, so it may block nobody for long. */
export function problemsOf({ statements, isTransaction }: Migrated): readonly string[] {
  const plain = statements.map((statement) => statement.replace(/--.*$/gm, '').replace(/\s+/g, ' ').trim());
  const created = new Set(plain.flatMap((text) => /^CREATE TABLE (?:IF NOT EXISTS )?(\w+)/i.exec(text)?.[1] ?? []));
  const locked = plain.flatMap(
    (text) => /^(?:ALTER TABLE|(?:CREATE|DROP) TRIGGER .*? ON) (\w+)/i.exec(text)?.[1] ?? [],
  );
  if (isTransaction && new Set(locked.filter((table) => !created.has(table))).size > 1)
    return ['it locks two tables: with transaction = false it keeps none while it waits for the other'];
  return plain.flatMap((text, index) => {
    const isConcurrent = /^(?:CREATE|DROP) (?:UNIQUE )?INDEX CONCURRENTLY/i.test(text);
    if (isConcurrent && isTransaction) return [`${text}: needs transaction = false`];
    const isForeignKey = /^ALTER TABLE .*DROP CONSTRAINT .*_fkey\b/i.test(text);
    if (isForeignKey && !plain.slice(0, index).some((each) => GIVES_UP_EARLY.test(each)))
      return [`${text}: locks two tables, so SET LOCAL lock_timeout below the second after which a deadlock ends`];
    const name = /^CREATE (?:UNIQUE )?INDEX CONCURRENTLY (\w+)/i.exec(text)?.[1];
    const isSafe = plain.slice(0, index).includes(`DROP INDEX CONCURRENTLY IF EXISTS ${name}`);
    if (name !== undefined && !isSafe)
      return [`${text}: drop what a broken try has left (DROP INDEX CONCURRENTLY IF EXISTS)`];
    const isBatch = !isTransaction && /^(?:UPDATE|DELETE)/i.test(text);
    const broken = RULES.filter(({ pattern, isForNew }) => {
      const found = pattern.exec(text);
      return found !== null && !isBatch && (isForNew ?? !created.has(found[1] ?? ''));
    });
    return broken.map(({ advice }) => `${text}: ${advice}`);
  });
}
