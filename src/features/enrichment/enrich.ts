/** Adds to alerts of inspections what helps to decide. Asks only Redis; a failure costs the context, never the alert. */
import type { Logger } from 'pino';
import { type Alert, type AlertContext, firedDetectors, type JsonObject, type JsonValue } from '../../alert.ts';
import type { ListedAsset } from '../../item.ts';
import type { CatalogEntry } from '../../poll/catalog.ts';
import { textOf as fieldText, objectOf } from '../../service/fields.ts';
import { iso } from '../../time.ts';
import type { Facts, First, FirstSeen, Noted } from './first-seen.ts';

/** What the catalog knows of a protocol. */
export type Knowledge = Pick<CatalogEntry, 'triggers' | 'assets' | 'owedSince'> & {
  /** Of all its contracts, lower-case: the config's, instead of the service's. */
  admins?: readonly string[];
};

type Judged = Pick<Alert, 'source' | 'type' | 'item'>;

/** Undefined where the inspection does not say. */
const firedOf = (alert: Judged): string[] | undefined =>
  objectOf(alert.item.detections) === undefined ? undefined : firedDetectors(alert);

const plain = (name: string): string => name.trim().toLowerCase();

const textOf = (value: JsonValue | undefined): string | undefined => fieldText(value)?.trim();

const triggerOf = ({ triggers }: Knowledge, alert: Judged): AlertContext['trigger'] => {
  const fired = triggers && firedOf(alert);
  if (triggers === undefined || fired === undefined) return undefined;
  const assessment = alert.type.replace(/^inspection\./, '');
  const listed = Object.hasOwn(triggers, assessment) ? (triggers[assessment] ?? []) : [];
  // An empty group always matches and says nothing.
  const groups = listed.filter((group) => group.length > 0);
  const names = new Set(fired.map(plain));
  const index = groups.findIndex((group) => group.every((name) => names.has(plain(name))));
  const group = groups[index];
  const matched = group && { number: index + 1, detectors: [...group] };
  return { groups: groups.length, ...(matched && { matched }) };
};

/** Contracts of an inspection that are looked at; where it names more, `none of them` is never said. */
const MOST_TOUCHED = 50;
const NAME_LIMIT = 100;

interface Touched {
  name: string;
  /** Absent where the service does not list it. */
  listed?: ListedAsset;
}

const touchedBy = ({ item }: Judged, listed: readonly ListedAsset[]): Touched[] => {
  const chainId = textOf(item.chainId);
  /** One address may be several contracts, each on a chain of its own. */
  const find = (address: string): ListedAsset | undefined => {
    const same = listed.filter((each) => each.address === address.toLowerCase());
    const [only, ...others] = same;
    if (chainId !== undefined && only?.chainId !== undefined) return same.find((each) => each.chainId === chainId);
    return others.length === 0 ? only : undefined;
  };
  const assets = Array.isArray(item.assets) ? item.assets : [];
  return assets.slice(0, MOST_TOUCHED + 1).map((raw, index) => {
    const asset = objectOf(raw) ?? {};
    const address = textOf(asset.address);
    const found = address === undefined || index === MOST_TOUCHED ? undefined : find(address);
    const name = textOf(asset.descriptor) ?? found?.name ?? address ?? 'an unnamed asset';
    return { name: name.slice(0, NAME_LIMIT), ...(found && { listed: found }) };
  });
};

/** Names of those whose list has the word. One yes is enough; a no takes the list of every asset. */
const listing = (
  touched: readonly Touched[],
  list: 'admins' | 'privileged',
  word: string | undefined,
): string[] | undefined => {
  if (word === undefined) return undefined;
  const lists = touched.map(({ name, listed }) => ({ name, values: listed?.[list] }));
  const names = lists.filter(({ values }) => values?.includes(word)).map(({ name }) => name);
  if (names.length > 0) return [...new Set(names)];
  return lists.length > 0 && lists.every(({ values }) => values !== undefined) ? [] : undefined;
};

const SELECTOR = /^0x[0-9a-f]{8}$/;

const privilegedOn = (touched: readonly Touched[], item: JsonObject): string[] | undefined => {
  // `pause(address)` is listed as `pause`.
  const method = textOf(item.invokedMethodName)?.split('(', 1)[0]?.trim().toLowerCase() || undefined;
  const names = listing(touched, 'privileged', method);
  // What has no name may be one that is listed by its name only.
  return names?.length === 0 && SELECTOR.test(method ?? '') ? undefined : names;
};

/** Since when the origin is an admin of one of them, where that is recent: the latest. ISO 8601. */
const adminSince = (touched: readonly Touched[], origin: string | undefined): string | undefined => {
  const since = touched.flatMap(({ listed }) => listed?.adminsSince?.[origin ?? ''] ?? []);
  return since.length === 0 ? undefined : iso(Math.max(...since));
};

/** By the config's admins, where it has some. */
const withOwnAdmins = (touched: readonly Touched[], admins: readonly string[] | undefined): readonly Touched[] => {
  if (admins === undefined) return touched;
  return touched.map((one) => {
    const { adminsSince: _, ...listed } = one.listed ?? { address: '' };
    return { ...one, listed: { ...listed, admins: [...admins] } };
  });
};

/**
 * What helps to decide on an inspection: derived from it, and from what the service lists of its protocol. Without `first`,
 * which `first-seen.ts` finds. Pure.
 */
export const contextOf = (alert: Judged, known: Knowledge): AlertContext => {
  const trigger = triggerOf(known, alert);
  const touched = withOwnAdmins(touchedBy(alert, known.assets ?? []), known.admins);
  const origin = textOf(alert.item.txOrigin)?.toLowerCase();
  const adminOf = listing(touched, 'admins', origin);
  const since = adminOf?.length ? adminSince(touched, origin) : undefined;
  const privileged = privilegedOn(touched, alert.item);
  return {
    ...(trigger && { trigger }),
    ...(adminOf && { adminOf }),
    ...(since && { adminSince: since }),
    ...(privileged && { privilegedOn: privileged }),
    ...(known.owedSince !== undefined && { listedSince: iso(known.owedSince) }),
  };
};

/** What an earlier alert may have had as well; the set of detectors is one fact. */
export const factsOf = (alert: Judged): Facts => {
  const origin = textOf(alert.item.txOrigin)?.toLowerCase();
  const detectors = [...new Set((firedOf(alert) ?? []).map(plain))].toSorted();
  return {
    ...(origin === undefined ? {} : { origin }),
    ...(detectors.length === 0 ? {} : { detectors: JSON.stringify(detectors) }),
  };
};

interface EnrichmentDependencies {
  firstSeen: FirstSeen;
  protocolOf(alert: Alert): Promise<Knowledge | undefined>;
  overrides: Readonly<Record<string, { admins?: readonly string[] }>>;
  /** Default: a failure is not logged. */
  log?: Pick<Logger, 'warn'>;
}

const isJudged = ({ source, type, followUp }: Alert): boolean =>
  source === 'inspections' && type !== 'test.sample' && followUp === undefined;

export const createEnrichment = ({ firstSeen, protocolOf, overrides, log }: EnrichmentDependencies) => {
  let isFailing = false;

  /** A replay is no news: it only reads what was seen before. */
  const firstsOf = async (noted: readonly Noted[], isReplay: boolean): Promise<(First | undefined)[]> =>
    isReplay ? Promise.all(noted.map(firstSeen.recall)) : firstSeen.note(noted);

  /** Of alerts of one protocol; in their order. */
  const contextsOf = async (alerts: readonly Alert[], isReplay: boolean): Promise<AlertContext[]> => {
    const [one] = alerts;
    if (one === undefined) return [];
    const noted = alerts.map((alert) => ({ alert, facts: factsOf(alert) }));
    const [known, firsts] = await Promise.all([protocolOf(one), firstsOf(noted, isReplay)]);
    const admins = Object.hasOwn(overrides, one.protocol) ? overrides[one.protocol]?.admins : undefined;
    return alerts.map((alert, index) => {
      const first = firsts[index];
      return { ...contextOf(alert, { ...known, ...(admins && { admins }) }), ...(first && { first }) };
    });
  };

  /** Adds to `contexts` those of the alerts, which are of one protocol. */
  const addContexts = async (alerts: readonly Alert[], contexts: Map<Alert, AlertContext>): Promise<void> => {
    try {
      const found = await contextsOf(alerts, alerts[0]?.replay === true);
      isFailing = false;
      for (const [index, alert] of alerts.entries()) contexts.set(alert, found[index] ?? {});
    } catch (error) {
      const line = { service: alerts[0]?.service, item: alerts[0]?.itemId, alerts: alerts.length, err: error };
      if (!isFailing) log?.warn(line, 'alerts are sent without context');
      isFailing = true;
      for (const alert of alerts) contexts.set(alert, {});
    }
  };

  return async (alerts: readonly Alert[]): Promise<Alert[]> => {
    const contexts = new Map<Alert, AlertContext>();
    const groups = Map.groupBy(alerts.filter(isJudged), ({ service, protocol, replay }) =>
      JSON.stringify([service, protocol, replay]),
    );
    await Promise.all([...groups.values()].map((group) => addContexts(group, contexts)));
    return alerts.map((alert) => {
      const context = contexts.get(alert);
      return context === undefined ? alert : { ...alert, context };
    });
  };
};
