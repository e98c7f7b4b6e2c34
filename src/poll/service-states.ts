/** How each service answers at present. */
import { iso } from '../time.ts';

export interface ServiceState {
  name: string;
  up: boolean;
  /** ISO 8601: since when it is not up. */
  since?: string;
  lastError?: string;
}

/** A service is up where none of its subjects fails; `failing` names those by their service in `group`, the oldest first. */
export const serviceStates = (
  services: readonly string[],
  failing: readonly { group: string; since: number; message: string }[],
): ServiceState[] =>
  services.map((name) => {
    const first = failing.find(({ group }) => group === name);
    return first === undefined
      ? { name, up: true }
      : { name, up: false, since: iso(first.since), lastError: first.message };
  });
