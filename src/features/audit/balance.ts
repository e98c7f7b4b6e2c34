/** The arithmetic of an audit: what a service lists, and what became of it. Pure. */

/** What became of an alert as a whole: `waiting` as long as one of its deliveries waits. */
export const FATES = ['delivered', 'waiting', 'muted', 'dead'] as const;
type Fate = (typeof FATES)[number];

/** An item that the service lists and that the config wants. */
export interface ListedItem {
  alertId: string;
  itemId: string;
  /** Lower-case. */
  txHash?: string;
  assessment: string;
}

/** Why the ledger may lack an item: no trigger of its protocol asks for it, or no poll has reached it yet. */
const EXCUSES = ['unwanted', 'unread'] as const;
type Excuse = (typeof EXCUSES)[number];

/** `unknown`: the ledger lacks it, which is a difference. */
export type Account = Fate | Excuse | 'unknown';

type Counts = Record<Fate | Excuse, number>;

/** A delivery that waits in the ledger and has no job. */
interface LostDelivery {
  alertId: string;
  itemId: string;
  destination: string;
  /** It was queued again. */
  healed: boolean;
}

/** `inspections/stats`, asked the same question as the list. */
interface SecondOpinion {
  critical: number;
  /** What the list gives for the same time, by any of the dates that the service may filter by. */
  listed: number;
}

/** One protocol's window; times are ISO 8601, from `since` (excluded) to `until`. */
export interface ProtocolAudit {
  service: string;
  protocol: string;
  since: string;
  until: string;
  listed: number;
  counts: Counts;
  missing: ListedItem[];
  lost: LostDelivery[];
  /** Ids of alerts in the ledger that the service no longer lists as wanted: changed or gone there. No difference. */
  onlyBooked: string[];
  /** ISO 8601. Present where the comparison begins there because the ledger was full and removed what was before. */
  trimmedTo?: string;
  /** Present where the statistics disagree with the list. No difference. */
  disagreement?: SecondOpinion;
  /** Of `missing` and `lost`, how many were queued again. */
  healed: number;
}

export interface Unaudited {
  service: string;
  protocol: string;
  problem: string;
}

export interface AuditReport {
  protocols: ProtocolAudit[];
  unaudited: Unaudited[];
}

/** `states` are those of the alert's deliveries; undefined where it has none. */
export const fateOf = (states: readonly Fate[]): Fate | undefined => {
  if (states.includes('waiting')) return 'waiting';
  if (states.includes('dead')) return 'dead';
  return states.includes('delivered') ? 'delivered' : states[0];
};

export const noCounts = (): Counts => ({ delivered: 0, waiting: 0, muted: 0, dead: 0, unwanted: 0, unread: 0 });

interface BalanceInput {
  listed: readonly ListedItem[];
  /** By alert id. */
  accounts: ReadonlyMap<string, Account>;
  /** Ids of the window's alerts in the ledger. */
  recorded: readonly string[];
}

/** Listed = delivered + waiting + muted + dead + unwanted + unread + missing, always. */
export const balance = ({ listed, accounts, recorded }: BalanceInput) => {
  const counts = noCounts();
  const missing: ListedItem[] = [];
  const items = new Map(listed.map((item) => [item.alertId, item]));
  for (const item of items.values()) {
    const account = accounts.get(item.alertId) ?? 'unknown';
    if (account === 'unknown') missing.push(item);
    else counts[account] += 1;
  }
  return { listed: items.size, counts, missing, onlyBooked: recorded.filter((id) => !items.has(id)) };
};

/** The three dates of an item; the service's statistics go by one of them, and do not say by which. */
export type Dates = readonly (number | undefined)[];

/** Undefined where the statistics agree with the list by one of the dates. `from` and `to` are excluded. */
export const disagreementOf = (
  critical: number | undefined,
  dates: readonly Dates[],
  from: number,
  to: number,
): SecondOpinion | undefined => {
  if (critical === undefined) return undefined;
  const width = Math.max(0, ...dates.map((each) => each.length));
  const counted = Array.from({ length: width }, (_, index) => {
    const all = dates.map((each) => each[index]);
    return all.filter((at) => at !== undefined && at > from && at < to).length;
  });
  const [listed = 0] = counted;
  return critical === listed || counted.includes(critical) ? undefined : { critical, listed };
};

/** Missing items are queued again all together or not at all. */
export const isMissingHealed = ({ missing, lost, healed }: ProtocolAudit): boolean =>
  healed - lost.filter((one) => one.healed).length >= missing.length;

export const isBalanced = ({ missing, lost }: Pick<ProtocolAudit, 'missing' | 'lost'>): boolean =>
  missing.length + lost.length === 0;

export const sumOf = (protocols: readonly ProtocolAudit[]) => {
  const sum = (pick: (one: ProtocolAudit) => number): number => protocols.reduce((total, one) => total + pick(one), 0);
  return {
    listed: sum(({ listed }) => listed),
    ...(Object.fromEntries([...FATES, ...EXCUSES].map((name) => [name, sum(({ counts }) => counts[name])])) as Counts),
    missing: sum(({ missing }) => missing.length),
    lost: sum(({ lost }) => lost.length),
    healed: sum(({ healed }) => healed),
  };
};
