/** A regular expression over paths: the code that only tests run. */
export declare const TEST_CODE: string;
