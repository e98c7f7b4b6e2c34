/** Makes the content of a digest from its alerts. */
import type { Alert } from '../alert.ts';
import { contentId } from '../identity.ts';
import { mapSliced, type Sliced } from '../slices.ts';
import { shorten } from '../text.ts';
import type { Storm } from './channel.ts';
import { lineText } from './content/content.ts';
import type { Wording } from './content/reading.ts';
import { rankOf, signOf } from './content/severity.ts';
import type { DigestContent } from './digest-content.ts';
import { commandOf, NAME_LIMIT, noticeOf, periodOf, titleOf, zoneOf } from './digest-head.ts';
import { itemsOf, readAlert } from './digest-items.ts';
import { tablesOf } from './digest-tables.ts';

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
