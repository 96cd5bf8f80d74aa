/** A regular expression for the paths of code that only tests run. */
export declare const TEST_CODE: string;
