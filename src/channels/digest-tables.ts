/** How often protocols, detectors, contracts and origins occur in a digest. */
import { type Sliced, slice } from '../slices.ts';
import { UNKNOWN } from './content/field.ts';
import type { Reading } from './content/reading.ts';
import type { CountTable } from './digest-content.ts';
import { countsOf } from './digest-head.ts';
import type { Read } from './digest-items.ts';

const contractsOf = ({ finding }: Reading): string[] => [
  ...new Set(
    finding.contracts.map(({ name, at }) => {
      if (at === undefined) return name ?? UNKNOWN;
      return name === undefined ? at.whole : `${name} (${at.whole})`;
    }),
  ),
];

function* originTable(readings: readonly Reading[]): Sliced<CountTable> {
  const origins = yield* slice(() => readings.flatMap(({ finding }) => finding.origins));
  const urls = new Map(origins.flatMap(({ whole, url }) => (url === undefined ? [] : [[whole, url] as const])));
  const counts = yield* slice(() => countsOf(origins.map(({ whole }) => whole)));
  return {
    title: 'Origins',
    counts: counts.map((count) => {
      const url = urls.get(count.name);
      return url === undefined ? count : { ...count, url };
    }),
  };
}

/** Protocols, detectors, contracts and origins, those that are involved. A detector counts once for each alert. */
export function* tablesOf(all: readonly Read[]): Sliced<CountTable[]> {
  const readings = all.flatMap(({ reading }) => reading ?? []);
  const protocols = yield* slice(() => countsOf(all.map(({ protocol }) => protocol)));
  const detectors = yield* slice(() =>
    countsOf(readings.flatMap(({ detections }) => detections.map(({ name }) => name))),
  );
  const contracts = yield* slice(() => countsOf(readings.flatMap(contractsOf)));
  return [
    { title: 'Protocols', counts: protocols },
    { title: 'Detectors', counts: detectors },
    { title: 'Contracts', counts: contracts },
    yield* originTable(readings),
  ].filter(({ counts }) => counts.length > 0);
}
