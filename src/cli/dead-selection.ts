/** Which dead deliveries a command is about: those named, or those that fit. Pure. */

import { labelNow } from '../channels/address.ts';
import { UsageError } from '../errors.ts';
import { isNamed } from '../features/trace/trace.ts';
import type { DeadDelivery } from '../ledger/dead-letters.ts';

export interface DeadFilters {
  protocol?: string;
  /** A destination's id, its label, or a channel kind. */
  destination?: string;
  reason?: string;
}

export interface DeadSelection extends DeadFilters {
  ids: readonly string[];
  all?: boolean;
}

/** What was found, oldest first, and which names fit none. */
export interface Selected {
  ids: string[];
  unknown: string[];
}

const PREFIX = /^msg_[0-9a-f]{4,31}$/;

/** Passing faults were called `retry` once; letters from then have that word. */
const reasonNow = (reason: string): string => (reason === 'retry' ? 'unavailable' : reason);

const fits = ({ alert, destination, reason }: DeadDelivery, filters: DeadFilters): boolean =>
  (filters.protocol === undefined || filters.protocol === alert.protocol) &&
  (filters.reason === undefined || reasonNow(filters.reason) === reasonNow(reason)) &&
  (filters.destination === undefined ||
    [destination?.id, labelNow(destination?.label ?? ''), destination?.kind].includes(labelNow(filters.destination)));

/** Throws a `UsageError` where no deliveries are named: a command without arguments must not mean all of them. */
export const checkSelection = ({ ids, all = false, protocol, destination, reason }: DeadSelection): void => {
  const isFiltered = [protocol, destination, reason].some((value) => value !== undefined);
  if (ids.length > 0 && (all || isFiltered)) {
    throw new UsageError('name deliveries, or take --all and filters, not both');
  }
  if (ids.length === 0 && !all && !isFiltered) {
    throw new UsageError('name deliveries by id, or take --all or a filter: --protocol, --destination, --reason');
  }
};

interface Found {
  id: string;
  at: string;
}

const foundOf = ({ id, at }: DeadDelivery): Found => ({ id, at });

/** Finds the letters of one name: an exact match, else the letter whose id begins with it. */
const createFinder = (name: string) => {
  const exact: Found[] = [];
  const begun: Found[] = [];
  return {
    name,
    take: (letters: readonly DeadDelivery[]): void => {
      exact.push(...letters.filter((letter) => isNamed(letter, name)).map(foundOf));
      if (PREFIX.test(name)) begun.push(...letters.filter(({ id }) => id.startsWith(name)).map(foundOf));
    },
    found: (): Found[] => {
      if (exact.length > 0) return exact;
      if (begun.length < 2) return begun;
      throw new UsageError(`'${name}' is the beginning of ${begun.length} deliveries: write more of it`);
    },
  };
};

/** Selects from letters that come some at a time; keeps only their ids. */
export const createSelector = ({ ids, ...filters }: DeadSelection) => {
  const finders = ids.map(createFinder);
  const fitting: Found[] = [];
  return {
    take: (letters: readonly DeadDelivery[]): void => {
      for (const finder of finders) finder.take(letters);
      if (ids.length === 0) fitting.push(...letters.filter((letter) => fits(letter, filters)).map(foundOf));
    },
    /** Throws a `UsageError` where a name could mean several deliveries. */
    result: (): Selected => {
      const found = [...fitting, ...finders.flatMap((finder) => finder.found())];
      const sorted = found.toSorted((a, b) => a.at.localeCompare(b.at)).map(({ id }) => id);
      const unknown = finders.filter((finder) => finder.found().length === 0).map(({ name }) => name);
      return { ids: [...new Set(sorted)], unknown };
    },
  };
};
