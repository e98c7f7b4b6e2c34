/** What every format tells programs of an alert besides the item itself: short, and read from the item leniently. */
import type { Alert, JsonObject } from '../../../alert.ts';
import { shorten } from '../../../text.ts';
import { parseTime } from '../../../time.ts';
import type { ComposeContext } from '../../channel.ts';
import type { Content } from '../../content/content.ts';
import { contentOf, describe } from '../../content/describe.ts';
import { type Finding, findingOf } from '../../content/finding.ts';
import { readInspection, type Wording } from '../../content/reading.ts';
import { type EventSeverity, severityOf } from './severity.ts';

const SUMMARY_LIMIT = 1000;
/** Of a list, where everything has to be short. */
const FEW_MAX = 20;
const SHORT_LIMIT = 100;

export interface Outline {
  /** One line of plain text: where, and what happened. */
  summary: string;
  severity: EventSeverity;
  /** Ids of the detectors that fired, as the service spells them. */
  detectors: string[];
  /** Absent where the item names none. `name`: absent where nobody knows the chain. */
  chain?: { id: string; name?: string };
  links: { transaction?: string; origin?: string; contracts?: string[] };
}

/** Without the sign: programs sort, compare and speak it. */
const summaryOf = ({ word, where, happened }: Content): string =>
  shorten(`${word} · ${where}: ${happened}`, SUMMARY_LIMIT);

const linksOf = ({ transaction, origins, contracts }: Finding): Outline['links'] => {
  const [origin] = origins.flatMap(({ url }) => url ?? []);
  const touched = [...new Set(contracts.flatMap(({ at }) => at?.url ?? []))];
  return {
    ...(transaction?.url === undefined ? {} : { transaction: transaction.url }),
    ...(origin === undefined ? {} : { origin }),
    ...(touched.length === 0 ? {} : { contracts: touched }),
  };
};

interface Read {
  content: Content;
  finding: Finding;
  detectors: string[];
}

/** A stored notification may name a transaction and its chain, too. */
const read = (alert: Alert, wording: Wording): Read => {
  if (alert.source === 'notifications') {
    const finding = findingOf(alert, wording.presentation.chains);
    return { content: describe(alert, wording), finding, detectors: [] };
  }
  const reading = readInspection(alert, wording);
  const { finding, detections } = reading;
  return { content: contentOf(reading, wording), finding, detectors: detections.map(({ id }) => id) };
};

/** The content is what people read. */
export const outlineOf = (
  alert: Alert,
  { presentation, sentAt }: ComposeContext,
): { outline: Outline; content: Content } => {
  const { content, finding, detectors } = read(alert, { presentation, sentAt: parseTime(sentAt) });
  const { chain } = finding;
  const outline: Outline = {
    summary: summaryOf(content),
    severity: severityOf(alert),
    detectors,
    ...(chain === undefined ? {} : { chain: { ...chain, id: shorten(chain.id, SHORT_LIMIT) } }),
    links: linksOf(finding),
  };
  return { outline, content };
};

/** The same for a receiver that refused the whole: with the beginnings of its lists. */
export const shortOutline = ({ detectors, links: { contracts, ...links }, ...outline }: Outline): Outline => ({
  ...outline,
  detectors: detectors.slice(0, FEW_MAX).map((name) => shorten(name, SHORT_LIMIT)),
  links: contracts === undefined ? links : { ...links, contracts: contracts.slice(0, FEW_MAX) },
});

/** The fields of an outline as they stand in `data`. */
export const outlineJson = ({ summary, severity, detectors, chain, links }: Outline): JsonObject => ({
  summary,
  severity,
  detectors,
  ...(chain === undefined ? {} : { chain: { ...chain } }),
  links: { ...links },
});
