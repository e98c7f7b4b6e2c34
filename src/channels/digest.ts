/** Makes the content of a digest from its alerts. */

import type { Alert } from '../alert.ts';
import { mapSliced, type Sliced, slice } from '../chunks.ts';
import { contentId } from '../item.ts';
import { shorten } from '../text.ts';
import type { Storm } from './channel.ts';
import { lineText } from './content/content.ts';
import { UNKNOWN } from './content/foreign.ts';
import type { Reading, Wording } from './content/reading.ts';
import { rankOf, signOf } from './content/severity.ts';
import type { CountTable, DigestContent } from './digest-content.ts';
import { commandOf, countsOf, NAME_LIMIT, noticeOf, periodOf, titleOf, zoneOf } from './digest-head.ts';
import { itemsOf, type Read, readAlert } from './digest-items.ts';

// How often protocols, detectors, contracts and origins occur in a digest.

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
function* tablesOf(all: readonly Read[]): Sliced<CountTable[]> {
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

const WHY = 'Too many at once for single messages.';

/** From the second digest in a row on, a reader wants to know how much of it there is. */
const whyOf = (storm: Storm | undefined): string =>
  storm === undefined || storm.message < 2
    ? WHY
    : `Storm, message ${storm.message}: ${storm.alerts.toLocaleString('en')} alerts so far.`;

/** Everything that people read about many alerts. `storm`: which digest in a row it is. Pure. */
export function* describeDigest(alerts: readonly Alert[], wording: Wording, storm?: Storm): Sliced<DigestContent> {
  const timeZone = zoneOf(alerts, wording.presentation);
  const all = yield* mapSliced(alerts, (alert) => readAlert(alert, wording));
  const tables = yield* tablesOf(all);
  const items = yield* itemsOf(all, wording, timeZone);
  yield;
  const [worst] = items;
  const [severest] = all.toSorted((a, b) => rankOf(a.severity) - rankOf(b.severity));
  if (worst === undefined || severest === undefined) throw new Error('a digest has at least one alert');
  const { tone } = worst;
  const isReplay = alerts.every(({ replay }) => replay);
  const title = titleOf(all, tables[0]?.counts ?? [], isReplay);
  const period = periodOf(alerts, timeZone);
  yield;
  return {
    id: contentId('digest', ...alerts.map(({ id }) => id).toSorted()).slice(0, 8),
    headline: `${signOf(tone)} ${title}; worst: ${worst.headline}`,
    title: `${signOf(tone)} ${title}`,
    severity: shorten(severest.severity, NAME_LIMIT),
    tone,
    sign: signOf(tone),
    alerts: alerts.length,
    ...{ period, span: lineText(period), why: whyOf(isReplay ? undefined : storm) },
    ...noticeOf(alerts),
    tables,
    items,
    command: commandOf(alerts),
  };
}
