/** The requests that read everything: as few as possible, each small enough for a URL. */
import type { Source } from '../alert.ts';
import { isPathSegment } from '../text.ts';
import type { Stream } from './stream.ts';

/** Names one notifications request carries: they travel in the URL, and proxies cut long ones. */
const NAMES_PER_REQUEST = 40;
const NAME_BYTES_PER_REQUEST = 3000;

/** Groups names so that each group fits one request; the same names give the same groups. */
const groupNames = (names: readonly string[]): string[][] => {
  const groups: string[][] = [];
  let bytes = 0;
  for (const name of names.toSorted()) {
    const size = encodeURIComponent(name).length + 20;
    const last = groups.at(-1);
    if (!last || last.length >= NAMES_PER_REQUEST || bytes + size > NAME_BYTES_PER_REQUEST) {
      groups.push([name]);
      bytes = size;
    } else {
      last.push(name);
      bytes += size;
    }
  }
  return groups;
};

/**
 * One stream a protocol for inspections; as few as possible for notifications. Inspections of a protocol whose name no
 * URL can carry are not asked for; the catalog says so.
 */
export const streamsOf = (service: string, protocols: readonly string[], sources: readonly Source[]): Stream[] =>
  sources.flatMap((source) =>
    (source === 'inspections' ? protocols.filter(isPathSegment).map((name) => [name]) : groupNames(protocols)).map(
      (group) => ({
        service,
        source,
        protocols: group,
      }),
    ),
  );
