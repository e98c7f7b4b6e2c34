/** Alerts as the page shows them: the latest in short, and what a search finds in full. Pure. */
import { type Chains, transactionLink } from '../../channels/chains.ts';
import type { AlertOutline } from '../../ledger/index-by-date.ts';
import { type DeliveryRecord, nameOf, type Target } from '../../ledger/record.ts';
import type { RecentAlert, RecentDelivery, TracedAlert } from '../../ops/page/details.ts';
import type { CatalogEntry } from '../../poll/catalog.ts';
import { type Acknowledgement, acknowledgedText } from '../acknowledgement/words.ts';
import { historyOf, type Trace } from '../trace/trace.ts';

export interface Linked {
  service: string;
  protocol: string;
  txHash?: string;
}

export type Entries = ReadonlyMap<string, Pick<CatalogEntry, 'assets'>>;

/**
 * Links to transactions. The ledger does not know an alert's chain: its protocol's contracts tell, if all are on one.
 * `entries` by service. Gives the fields that a report shows of a transaction.
 */
export const createLinker =
  (chains: Chains, entries: ReadonlyMap<string, Entries>) =>
  ({ service, protocol, txHash }: Linked): { txHash?: string; explorer?: string } => {
    if (txHash === undefined) return {};
    const assets = entries.get(service)?.get(protocol)?.assets ?? [];
    const [id, ...others] = new Set(assets.flatMap(({ chainId }) => chainId ?? []));
    const link = id === undefined || others.length > 0 ? undefined : transactionLink(chains[id], txHash);
    return { txHash, ...(link === undefined ? {} : { explorer: link }) };
  };

export type Linker = ReturnType<typeof createLinker>;

const NONE = 'none';

export const targetName = (target: Target): string => (target.kind === NONE ? target.label : nameOf(target));

/** From the service to the receiver. A replay comes late by intention, and a covered alert was not sent. */
const tookOf = (writtenAt: string, { state, at, attempts, with: covering }: DeliveryRecord): { tookMs?: number } => {
  if (state !== 'delivered' || covering !== undefined || attempts.at(-1)?.replay) return {};
  return { tookMs: Math.max(0, Date.parse(at) - Date.parse(writtenAt)) };
};

const errorOf = ({ state, attempts }: DeliveryRecord): { error?: string } => {
  const { message } = attempts.at(-1) ?? {};
  return state === 'delivered' || message === undefined ? {} : { error: message };
};

const deliveryOf = (writtenAt: string, delivery: DeliveryRecord): RecentDelivery => ({
  to: targetName(delivery.destination),
  state: delivery.state,
  at: delivery.at,
  ...tookOf(writtenAt, delivery),
  ...errorOf(delivery),
  ...(delivery.state === 'delivered' && delivery.with !== undefined ? { isCovered: true } : {}),
});

const acknowledgedOf = (known: Acknowledgement | undefined): { acknowledged?: string } =>
  known === undefined ? {} : { acknowledged: acknowledgedText(known) };

export const recentAlert = (
  { alert, counts, deliveries }: AlertOutline,
  link: Linker,
  known?: Acknowledgement,
): RecentAlert => {
  const { id, service, protocol, type, at } = alert;
  const shown = deliveries.map((one) => deliveryOf(at, one));
  return { id, service, protocol, type, at, ...link(alert), ...acknowledgedOf(known), counts, deliveries: shown };
};

/** An alert may have thousands of destinations; `tocsin trace` lists them all. */
const MOST_TRACED = 100;

const URGENCY = { dead: 0, waiting: 1, delivered: 2, muted: 3 };

export const tracedAlert = ({ alert, acknowledged, deliveries }: Trace, link: Linker): TracedAlert => {
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
    ...acknowledgedOf(acknowledged),
    deliveries: shown,
    more: deliveries.length - shown.length,
  };
};
