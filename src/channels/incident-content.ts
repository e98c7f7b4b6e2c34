/** What a person is told of one incident: the contents of its alerts made one, each fact once. */
import type { Alert } from '../alert.ts';
import type { Chains } from './chains.ts';
import { type Content, type Detection, describe, type Fact, UNKNOWN } from './content.ts';

/** Most urgent first. Between `SUSPICIOUS` and `NOTIFICATION` comes every assessment that nobody documented. */
const KNOWN = ['CRITICAL', 'SUSPICIOUS', undefined, 'NOTIFICATION', 'FOLLOW-UP', 'OK', 'TEST'];

/** The lower, the more urgent. */
export const rankOf = (severity: string): number => {
  const rank = KNOWN.indexOf(severity);
  return rank < 0 ? KNOWN.indexOf(undefined) : rank;
};

const unique = <T>(values: readonly T[]): T[] => [...new Set(values)];

/** `Vault A + 2 more`. */
export const someOf = (names: readonly string[], shown = 1): string =>
  names.length > shown ? `${names.slice(0, shown).join(', ')} + ${names.length - shown} more` : names.join(', ');

const LABELLED_WITH = 3;

/** Says whose it is, unless it is everybody's. */
const owned = (text: string, owners: readonly string[], all: number): string =>
  owners.length === all ? text : `${text} (${someOf(owners, LABELLED_WITH)})`;

const detectionsOf = (contents: readonly Content[], all: number): Detection[] => {
  const told = contents.flatMap(({ protocol, detections }) => detections.map((detection) => ({ protocol, detection })));
  return [...Map.groupBy(told, ({ detection: { name, message } }) => JSON.stringify([name, message])).values()].flatMap(
    (same) => {
      const owners = unique(same.map(({ protocol }) => protocol));
      return same.slice(0, 1).map(({ detection }) => ({ ...detection, name: owned(detection.name, owners, all) }));
    },
  );
};

const listFact = (label: string, items: string[]): Fact =>
  items.length > 1 ? { label, value: items.join(', '), items } : { label, value: items[0] ?? UNKNOWN };

const known = (items: string[]): string[] => {
  const named = items.filter((item) => item !== UNKNOWN);
  return named.length > 0 ? named : items;
};

/** Facts that every inspection has its own of. */
const UNITED = new Set(['Assets', 'Inspection']);
const SHOWN_TIME = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/;

interface Told {
  protocol: string;
  fact: Fact;
}

const uniteFact = (label: string, told: readonly Told[], contents: number, all: number): Fact => {
  const byValue = [...Map.groupBy(told, ({ fact }) => fact.value)];
  const [same] = told;
  if (same && byValue.length === 1 && told.length === contents) return same.fact;
  if (UNITED.has(label)) return listFact(label, known(unique(told.flatMap(({ fact }) => fact.items ?? [fact.value]))));
  const values = byValue.map(([value]) => value).toSorted();
  if (label === 'Inspected' && values.every((value) => SHOWN_TIME.test(value))) {
    return { label, value: unique([values[0], values.at(-1)]).join(' to ') };
  }
  const items = byValue.map(([value, who]) => owned(value, unique(who.map(({ protocol }) => protocol)), all));
  return listFact(label, items);
};

/** The transaction first, then whom it concerns, the ids last. */
const factsOf = (contents: readonly Content[], protocols: string[]): Fact[] => {
  const told = contents.flatMap(({ protocol, facts }) => facts.map((fact) => ({ protocol, fact })));
  const byLabel = Map.groupBy(told, ({ fact }) => fact.label);
  const facts = [...byLabel].map(([label, same]) => uniteFact(label, same, contents.length, protocols.length));
  const named = protocols.length > 1 ? [listFact('Protocols', protocols)] : [];
  const of = (...labels: string[]): Fact[] => facts.filter(({ label }) => labels.includes(label));
  const placed = ['Transaction', 'Chain', 'Inspection'];
  const others = facts.filter(({ label }) => !placed.includes(label));
  return [...of('Transaction', 'Chain'), ...named, ...others, ...of('Inspection')];
};

/** Contents of one incident's alerts as one content; see `describeIncident`. */
export const unite = (contents: readonly Content[], replay: boolean): Content => {
  const ordered = contents.toSorted((a, b) => rankOf(a.severity) - rankOf(b.severity));
  const [worst] = ordered;
  if (worst === undefined) throw new Error('an incident has at least one alert');
  if (ordered.length === 1) return worst;
  const protocols = unique(ordered.map(({ protocol }) => protocol));
  const names = unique(ordered.flatMap(({ detections }) => detections.map(({ name }) => name)));
  const protocol = someOf(protocols);
  const word = replay ? `${worst.severity} (replay)` : worst.severity;
  const headline = `${word}: ${protocol}: ${names.join(', ') || 'no detector named'}`;
  const notices = unique(ordered.flatMap(({ notice }) => notice ?? []));
  return {
    ...worst,
    headline,
    title: headline,
    protocol,
    ...(notices.length > 0 ? { notice: notices.join(' ') } : {}),
    detections: detectionsOf(ordered, protocols.length),
    facts: factsOf(ordered, protocols),
  };
};

/**
 * Everything a person is told of one incident's alerts (see `incidentsOf`): the worst severity, all protocols and assets,
 * each detection once and with its protocol where that is not all of them. One alert: the same as `describe`. Pure.
 */
export const describeIncident = (alerts: readonly Alert[], chains: Chains, sentAt: string): Content =>
  unite(
    alerts.map((alert) => describe(alert, chains, sentAt)),
    alerts.some(({ replay }) => replay),
  );
