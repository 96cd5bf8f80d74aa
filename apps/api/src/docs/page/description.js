export function operationsOf({ paths }) {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
}

/** The description as the page shows it. */
export async function readDescription() {
  const address = new URL('openapi.json', location.href);
  const response = await fetch(address);
  if (!response.ok) throw new Error(`${address.href} answers ${response.status}`);
  const description = await response.json();
  // The page may call only its own server, whichever name it was reached by. The guide lists the others.
  description.servers = [{ url: new URL('v1', address).href }];
  leaveOutSharedErrors(operationsOf(description).map(({ operation }) => operation));
  return description;
}

/** The page lists once what every operation can be answered with. */
function leaveOutSharedErrors(operations) {
  const isShared = (status) => /^[45]/.test(status) && operations.every(({ responses }) => status in responses);
  const shared = Object.keys(operations[0].responses).filter(isShared);
  for (const operation of operations) {
    // What isn't a reference is said in the operation's own words.
    const own = ([status, { $ref }]) => $ref === undefined || !shared.includes(status);
    operation.responses = Object.fromEntries(Object.entries(operation.responses).filter(own));
  }
}
