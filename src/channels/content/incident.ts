/** What people read about one incident: the readings of its alerts as one, with each fact once. */
import type { Alert } from '../../alert.ts';
import { mapSliced, type Sliced } from '../../slices.ts';
import { listText } from '../../text.ts';
import { uniteAnnouncements } from './announcements.ts';
import type { Content, Detection } from './content.ts';
import { contentOf, describe } from './describe.ts';
import { uniteFindings } from './finding.ts';
import { inlineName } from './names.ts';
import { type Reading, readInspection, roomsOf, type Wording } from './reading.ts';
import { rankOf } from './severity.ts';

const LABELLED_WITH = 3;

const unique = <T>(values: readonly T[]): T[] => [...new Set(values)];

interface OwnedDetection {
  protocol: string;
  detection: Detection;
}

/** The same words of the same detector once; with its protocols unless it holds for all of them. */
const uniteDetections = (owned: readonly OwnedDetection[], protocols: number): Detection[] => {
  const same = Map.groupBy(owned, ({ detection: { id, message } }) => JSON.stringify([id, message]));
  return [...same.values()].flatMap((group) => {
    const owners = unique(group.map(({ protocol }) => inlineName(protocol)));
    const suffix = owners.length === protocols ? '' : ` (${listText(owners, LABELLED_WITH)})`;
    return group.slice(0, 1).map(({ detection }) => ({ ...detection, name: `${detection.name}${suffix}` }));
  });
};

/** The title says what the worst is now; where not all have changed alike, which have. */
const changesOf = (readings: readonly Reading[]): string[] => {
  const words = readings.map(({ severity, was }) => (was === undefined ? '' : `now ${severity} (was ${was})`));
  if (unique(words).length === 1) return [];
  return readings.flatMap(({ protocols: [protocol = ''] }, index) =>
    words[index] === '' ? [] : [`${inlineName(protocol)}: ${words[index]}.`],
  );
};

/** Readings of one transaction as one: the worst severity, all protocols, each detection once. */
export const uniteReadings = (readings: readonly Reading[]): Reading => {
  const ordered = readings.toSorted((a, b) => rankOf(a.severity) - rankOf(b.severity));
  const [worst] = ordered;
  if (worst === undefined) throw new Error('an incident has at least one alert');
  if (ordered.length === 1) return worst;
  const owned = ordered.map((reading) => ({ ...reading, protocol: reading.protocols[0] ?? '' }));
  const protocols = unique(owned.map(({ protocol }) => protocol));
  const notices = unique(ordered.flatMap(({ notice }) => notice ?? []).concat(changesOf(ordered)));
  return {
    ...worst,
    protocols,
    finding: uniteFindings(owned),
    detections: uniteDetections(
      owned.flatMap(({ protocol, detections }) => detections.map((detection) => ({ protocol, detection }))),
      protocols.length,
    ),
    ...(notices.length > 0 ? { notice: notices.join(' ') } : {}),
    isReplay: ordered.some(({ isReplay }) => isReplay),
  };
};

/**
 * Everything that people read about one incident's alerts (see `incidents.ts`), or about several announcements of one
 * kind. For one alert the same as `describe`. Pure.
 */
export function* describeIncident(alerts: readonly Alert[], wording: Wording): Sliced<Content> {
  const [first] = alerts;
  if (first === undefined) throw new Error('a message has at least one alert');
  return wording.presentation.templates.apply(yield* describeAll(alerts, first, wording), first);
}

function* describeAll(alerts: readonly Alert[], first: Alert, wording: Wording): Sliced<Content> {
  if (first.source === 'notifications') {
    const contents = yield* mapSliced(alerts, (alert) => describe(alert, wording));
    return uniteAnnouncements(alerts, contents);
  }
  const rooms = roomsOf(alerts);
  const readings: Reading[] = [];
  for (const [index, alert] of alerts.entries()) {
    yield;
    readings.push(readInspection(alert, wording, rooms[index]));
  }
  yield;
  return contentOf(uniteReadings(readings), wording);
}
