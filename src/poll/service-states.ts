/** How each service answers at present. */

export interface ServiceState {
  name: string;
  up: boolean;
  lastError?: string;
}

/** A service is up where none of its subjects fails; `failing` names those by their service in `group`, the oldest first. */
export const serviceStates = (
  services: readonly string[],
  failing: readonly { group: string; message: string }[],
): ServiceState[] =>
  services.map((name) => {
    const first = failing.find(({ group }) => group === name);
    return first === undefined ? { name, up: true } : { name, up: false, lastError: first.message };
  });
