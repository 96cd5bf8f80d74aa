/** The method of a controller that answers an operation. */
export type Handler = object;

/** A parameter's decorator that also sets metadata on its handler, for the guards. */
export function describingParameter(decorate: ParameterDecorator, key: string, value: unknown): ParameterDecorator {
  return (controller, handler, index) => {
    decorate(controller, handler, index);
    if (handler === undefined) throw new Error('only a parameter of a method can be decorated');
    Reflect.defineMetadata(key, value, Reflect.get(controller, handler) as object);
  };
}
