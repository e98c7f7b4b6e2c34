/** Makes the content of a digest from its alerts. */
import type { Alert } from '../alert.ts';
import { contentId } from '../identity.ts';
import { mapSliced, type Sliced, slice } from '../slices.ts';
import { shorten } from '../text.ts';
import { clockText } from '../time.ts';
import type { Chains } from './chains.ts';
import { type Content, describe, UNKNOWN } from './content.ts';
import { type CountTable, type DigestContent, type DigestItem, HASH_LIMIT } from './digest-content.ts';
import {
  commandOf,
  countsOf,
  type DescribedAlert,
  ends,
  HEADLINE_LIMIT,
  NAME_LIMIT,
  noticeOf,
  periodOf,
  timeOf,
  titleOf,
} from './digest-head.ts';
import { rankOf, unite } from './incident-content.ts';
import { incidentsOf } from './incidents.ts';

const IDS_LIMIT = 1000;
const DETECTORS_MAX = 11;

const WHY = 'One message for all of them: they came together, or faster than this channel takes single messages.';

/** A follow-up that says `now critical` is as urgent as a critical alert. */
const urgencyOf = ({ alert, content }: DescribedAlert): number =>
  alert.followUp?.is === 'critical' ? rankOf('CRITICAL') : rankOf(content.severity);

const itemOf = (described: readonly DescribedAlert[]): DigestItem & { at: number; rank: number } => {
  const alerts = described.map(({ alert }) => alert);
  const content = unite(
    described.map((one) => one.content),
    alerts.some(({ replay }) => replay),
  );
  const fact = (label: string) => content.facts.find((each) => each.label === label);
  const names = content.detections.map(({ name }) => shorten(name, NAME_LIMIT));
  const more = names.length - DETECTORS_MAX;
  const hash = fact('Transaction');
  const chain = fact('Chain');
  const { first } = ends(alerts.map(timeOf));
  return {
    severity: shorten(content.severity, NAME_LIMIT),
    headline: shorten(content.headline, HEADLINE_LIMIT),
    protocol: shorten(content.protocol, NAME_LIMIT),
    detectors: more > 1 ? [...names.slice(0, DETECTORS_MAX), `${more} more`] : names,
    detections: content.detections,
    ...(content.message === undefined ? {} : { message: content.message }),
    ...(hash && hash.value !== UNKNOWN ? { hash: shorten(hash.value, HASH_LIMIT) } : {}),
    ...(hash?.url === undefined ? {} : { url: hash.url }),
    ...(chain ? { chain: shorten(chain.value, NAME_LIMIT) } : {}),
    time: Number.isNaN(first) ? UNKNOWN : clockText(first),
    ids: shorten((fact('Inspection') ?? fact('Notification'))?.value ?? UNKNOWN, IDS_LIMIT),
    at: first,
    rank: Math.min(...described.map(urgencyOf)),
  };
};

function* itemsOf(described: readonly DescribedAlert[]): Sliced<DigestItem[]> {
  const byAlert = new Map(described.map((one) => [one.alert, one]));
  const incidents = incidentsOf(described.map(({ alert }) => alert));
  const items = yield* mapSliced(incidents, (alerts) => itemOf(alerts.flatMap((alert) => byAlert.get(alert) ?? [])));
  yield;
  items.sort((a, b) => a.rank - b.rank || b.detections.length - a.detections.length || (a.at || 0) - (b.at || 0));
  return yield* mapSliced(items, ({ at: _at, rank: _rank, ...item }) => item);
}

const assetsOf = ({ facts }: Content): string[] => {
  const assets = facts.find(({ label }) => label === 'Assets');
  return (assets?.items ?? [assets?.value ?? UNKNOWN]).filter((asset) => asset !== UNKNOWN);
};

/** A detector counts once for each alert. */
function* tablesOf(contents: readonly Content[]): Sliced<CountTable[]> {
  const protocols = yield* slice(() => countsOf(contents.map(({ protocol }) => protocol)));
  const detectors = yield* slice(() =>
    countsOf(contents.flatMap(({ detections }) => detections.map(({ name }) => name))),
  );
  const contracts = yield* slice(() => countsOf(contents.flatMap((content) => [...new Set(assetsOf(content))])));
  return [
    { title: 'Protocols', counts: protocols },
    { title: 'Detectors', counts: detectors },
    { title: 'Contracts', counts: contracts },
  ].filter(({ counts }) => counts.length > 0);
}

/** Everything that people read about many alerts. Pure. */
export function* describeDigest(alerts: readonly Alert[], chains: Chains, sentAt: string): Sliced<DigestContent> {
  const described = yield* mapSliced(alerts, (alert) => ({ alert, content: describe(alert, chains, sentAt) }));
  const tables = yield* tablesOf(described.map(({ content }) => content));
  const items = yield* itemsOf(described);
  yield;
  const [worst] = items;
  const [severity] = described.map(({ content }) => content.severity).toSorted((a, b) => rankOf(a) - rankOf(b));
  if (worst === undefined || severity === undefined) throw new Error('a digest has at least one alert');
  const replay = alerts.every((alert) => alert.replay);
  const title = titleOf(described, tables[0]?.counts ?? [], replay);
  yield;
  return {
    id: contentId('digest', ...alerts.map(({ id }) => id).toSorted()).slice(0, 8),
    headline: `${title}; worst: ${worst.headline}`,
    title,
    severity: shorten(severity, NAME_LIMIT),
    alerts: alerts.length,
    span: periodOf(alerts),
    why: WHY,
    ...noticeOf(alerts),
    tables,
    items,
    command: commandOf(alerts),
  };
}
