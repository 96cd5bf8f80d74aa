interface Rows {
  readonly accounts: number;
  readonly animals: number;
}

export declare const YEAR: Rows;
export declare const NOW: string;
export declare const fills: (rows: Rows) => readonly string[];
