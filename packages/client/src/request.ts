import type { Call } from './call.js';
import type { paths } from './generated.js';
import type { CallOptions, PostOptions, WriteOptions } from './options.js';

/** Also words that the API adds later, as in its answers: the status of an animal can be a filter. */
type Open<Value> = Value extends string ? Value | (string & {}) : Value;

/** The same parameters: each may be undefined, and lists may be readonly. */
type Loose<Parameters> = {
  readonly [Name in keyof Parameters]:
    | (Parameters[Name] extends readonly (infer Item)[] | undefined ? readonly Open<Item>[] : Open<Parameters[Name]>)
    | undefined;
};
export type QueryOf<Operation> = Operation extends { parameters: { query?: infer Query } }
  ? Loose<NonNullable<Query>>
  : never;

type Method<Path extends keyof paths> = {
  [Name in keyof paths[Path]]: paths[Path][Name] extends { responses: unknown } ? Uppercase<Name & string> : never;
}[keyof paths[Path]];
type OperationOf<Name extends string, Path extends keyof paths> = paths[Path][Lowercase<Name> & keyof paths[Path]];
type JsonOf<Response> = Response extends { content: { 'application/json': infer Data } } ? Data : undefined;
type DataOf<Operation> = Operation extends { responses: infer Responses }
  ? JsonOf<Responses[keyof Responses & (200 | 201 | 202 | 204)]>
  : never;
type PartsOf<Operation> = (Operation extends { parameters: { path: infer Path } }
  ? { readonly path: Loose<Path> }
  : unknown) &
  (Operation extends { requestBody: { content: { 'application/json': infer Body } } }
    ? { readonly body: Body }
    : unknown);
type RequestOptions<Operation> = CallOptions &
  PostOptions &
  WriteOptions &
  PartsOf<Operation> & { readonly query?: QueryOf<Operation> | undefined };

/** Calls an operation of the description. */
export type Request = <Path extends keyof paths, Name extends Method<Path>>(
  method: Name,
  path: Path,
  ...options: unknown extends PartsOf<OperationOf<Name, Path>>
    ? [options?: RequestOptions<OperationOf<Name, Path>>]
    : [options: RequestOptions<OperationOf<Name, Path>>]
) => Call<DataOf<OperationOf<Name, Path>>>;
