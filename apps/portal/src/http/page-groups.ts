import type { Frame, Tab } from './views.js';

/** Pages that belong together, in the header. Its address is that of its first page. */
interface PageGroup extends Tab {
  readonly pages: readonly Tab[];
}

/** The groups of pages, for the header of the page with the address `current`. */
export function groupsOf({ api, current }: Pick<Frame, 'api'> & { readonly current?: string }): readonly PageGroup[] {
  const group = (name: string, pages: Readonly<Record<string, string>>): PageGroup => {
    const tabs = Object.entries(pages).map(([page, address]) => ({
      name: page,
      address,
      isCurrent: address === current,
    }));
    const address = tabs[0]?.address ?? '/';
    return { name, address, isCurrent: tabs.some(({ isCurrent }) => isCurrent), pages: tabs };
  };
  return [
    group('Developers', { Keys: '/keys', Webhooks: '/webhooks', Usage: '/usage', Plan: '/plan' }),
    group('Store', { Catalogue: '/catalogue', Orders: '/orders', Messages: '/messages' }),
    group('Docs', { Quickstart: '/quickstart', 'API reference': `${api}/docs` }),
  ];
}
