export function operationsOf({ paths }) {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
}

/**
 * The errors that every operation can answer with, so that the page shows them once.
 *
 * @returns a status, the reference that operations have in common, and the response.
 */
export function sharedErrors(description) {
  const answers = operationsOf(description).map(({ operation }) => operation.responses);
  const statuses = Object.keys(answers[0]).filter((status) => /^[45]/.test(status));
  return statuses
    .filter((status) => answers.every((responses) => status in responses))
    .map((status) => {
      const { $ref } = answers.map((responses) => responses[status]).find((response) => '$ref' in response);
      return { status, $ref, response: description.components.responses[$ref.split('/').at(-1)] };
    });
}
