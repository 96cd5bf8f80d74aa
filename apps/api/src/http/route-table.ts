import { pathOf } from './request-target.js';

/** The methods of each path, so that a 405 can name them (RFC 9110 §15.5.6). */
export class RouteTable {
  private readonly routes: { readonly pattern: string; readonly path: RegExp; readonly methods: string[] }[] = [];

  /** @param pattern a path with parameters written as `:name`. */
  add(pattern: string, methods: readonly string[]): void {
    if (pattern.includes('*')) return;
    const path = new RegExp(`^${pattern.replace(/:\w+/g, '[^/]+')}$`);
    const known = this.routes.find((route) => route.path.source === path.source);
    if (known) known.methods.push(...methods);
    else this.routes.push({ pattern, path, methods: [...methods] });
  }

  /** The methods of the URL's path in alphabetical order. Empty if no route has that path. */
  methodsOf(url: string): readonly string[] {
    const path = pathOf(url);
    // As in the router, a fixed path wins: `/v1/pets/count` would not be an animal with the id `count`.
    const route =
      this.routes.find(({ pattern }) => pattern === path) ?? this.routes.find((each) => each.path.test(path));
    return route === undefined ? [] : sorted(route.methods);
  }

  allMethods(): readonly string[] {
    return sorted(this.routes.flatMap(({ methods }) => methods));
  }
}

function sorted(methods: readonly string[]): readonly string[] {
  return [...new Set([...methods, 'OPTIONS'])].sort();
}
