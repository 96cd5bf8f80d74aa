/** A value that is made when it is first needed. If making it fails, the next caller tries again. */
export class Lazy<Value> {
  private made: Value | undefined;

  constructor(private readonly make: () => Promise<Value>) {}

  async get(): Promise<Value> {
    this.made ??= await this.make();
    return this.made;
  }
}
