// What is used of it here: its published types need those of Express.
declare module 'connect-pg-simple' {
  interface StoreOptions {
    readonly pool: { query(text: string, values: unknown[]): Promise<{ readonly rows: readonly unknown[] }> };
    readonly tableName: string;
    readonly errorLog: (message: string, error: Error) => void;
  }

  type Callback<Result = void> = (error: Error | null, result?: Result) => void;

  class PGStore {
    constructor(options: StoreOptions);
    get(id: string, callback: Callback<never>): void;
    set(id: string, session: object, callback: Callback): void;
    destroy(id: string, callback: Callback): void;
    close(): Promise<void>;
  }

  export default function connectPgSimple(session: { readonly Store: unknown }): typeof PGStore;
}
