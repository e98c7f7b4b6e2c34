/** Alerts as the page shows them: the latest in short, and what a search finds in full. Pure. */
import type { Alert } from '../../alert.ts';
import { type Chains, transactionLink } from '../../channels/chains.ts';
import type { AlertOutline } from '../../ledger/index-by-date.ts';
import { type DeliveryRecord, nameOf, type Target } from '../../ledger/record.ts';
import type { RecentAlert, RecentDelivery, TracedAlert } from '../../ops/page/details.ts';
import type { CatalogEntry } from '../../poll/catalog.ts';
import { isOpen, type MayBePressed } from '../acknowledgement/unacknowledged.ts';
import { type Acknowledgement, onItLine } from '../acknowledgement/words.ts';
import { historyOf, type Trace } from '../trace/trace.ts';

type Entries = ReadonlyMap<string, Pick<CatalogEntry, 'assets'>>;

/**
 * Links to transactions. The ledger does not know an alert's chain: its protocol's contracts tell, if all are on one.
 * `entries` by service. Gives the fields that a report shows of a transaction.
 */
export const createLinker =
  (chains: Chains, entries: ReadonlyMap<string, Entries>) =>
  ({
    service,
    protocol,
    txHash,
  }: Pick<Alert, 'service' | 'protocol' | 'txHash'>): { txHash?: string; explorer?: string } => {
    if (txHash === undefined) return {};
    const assets = entries.get(service)?.get(protocol)?.assets ?? [];
    const [id, ...others] = new Set(assets.flatMap(({ chainId }) => chainId ?? []));
    const link = id === undefined || others.length > 0 ? undefined : transactionLink(chains[id], txHash);
    return { txHash, ...(link === undefined ? {} : { explorer: link }) };
  };

export type Linker = ReturnType<typeof createLinker>;

const NONE = 'none';

export const targetName = (target: Target): string => (target.kind === NONE ? target.label : nameOf(target));

const deliveryOf = (
  writtenAt: string,
  { destination, state, at, attempts, ...delivery }: DeliveryRecord,
): RecentDelivery => {
  const last = attempts.at(-1);
  const isDelivered = state === 'delivered';
  const isCovered = isDelivered && delivery.with !== undefined;
  // From the service to the receiver. A replay comes late by intention, and a covered alert was not sent.
  const isTimed = isDelivered && !isCovered && !last?.replay;
  return {
    ...{ to: targetName(destination), state, at },
    tookMs: isTimed ? Math.max(0, Date.parse(at) - Date.parse(writtenAt)) : undefined,
    error: isDelivered ? undefined : last?.message,
    isCovered: isCovered || undefined,
  };
};

type About = Pick<AlertOutline, 'alert' | 'deliveries'>;

/** The name of where it was pressed is among those of its destinations. */
const acknowledgedOf = (
  { alert, deliveries }: About,
  known: Acknowledgement | undefined,
  mayBePressed: MayBePressed,
): string | undefined => {
  const pressed = deliveries.find(({ destination }) => destination.id === known?.destination)?.destination;
  if (known) return onItLine(known, Date.parse(alert.at), pressed?.name);
  return isOpen({ alert, deliveries }, mayBePressed) ? 'Nobody has acknowledged yet' : undefined;
};

/** What is known of acknowledgements. */
interface Acknowledged {
  by?: Acknowledgement | undefined;
  mayBePressed: MayBePressed;
}

export const recentAlert = (outline: AlertOutline, link: Linker, { by, mayBePressed }: Acknowledged): RecentAlert => {
  const { alert, counts, deliveries } = outline;
  const { id, service, protocol, type, at } = alert;
  return {
    ...{ id, service, protocol, type, at },
    ...link(alert),
    acknowledged: acknowledgedOf(outline, by, mayBePressed),
    counts,
    deliveries: deliveries.map((one) => deliveryOf(at, one)),
  };
};

/** A notification that is covered wherever it goes is counted by the alert that covers it, and is no row. */
export const foldCovered = (
  outlines: readonly AlertOutline[],
): { rows: AlertOutline[]; covers: Map<string, number> } => {
  const covers = new Map<string, number>();
  for (const { isCovered, deliveries } of outlines) {
    const other = isCovered ? deliveries[0]?.with : undefined;
    if (other !== undefined) covers.set(other, (covers.get(other) ?? 0) + 1);
  }
  return { rows: outlines.filter(({ isCovered }) => !isCovered), covers };
};

/** An alert may have thousands of destinations; `tocsin trace` lists them all. */
const MOST_TRACED = 100;

const URGENCY = { dead: 0, waiting: 1, delivered: 2, muted: 3 };

export const tracedAlert = (trace: Trace, link: Linker, mayBePressed: MayBePressed): TracedAlert => {
  const { alert, acknowledged, deliveries } = trace;
  const { id, service, protocol, type, at, readAt, itemId } = alert;
  const sorted = deliveries.toSorted((a, b) => URGENCY[a.state] - URGENCY[b.state]);
  const shown = sorted.slice(0, MOST_TRACED).map((one) => ({
    ...deliveryOf(at, one),
    id: one.id,
    kind: one.destination.kind,
    history: historyOf(one),
  }));
  return {
    ...{ id, service, protocol, type, at, readAt, itemId },
    ...link(alert),
    acknowledged: acknowledgedOf(trace, acknowledged, mayBePressed),
    deliveries: shown,
    more: deliveries.length - shown.length,
  };
};
