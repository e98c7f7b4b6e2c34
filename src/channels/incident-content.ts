/** What people read about one incident: the contents of its alerts as one, with each fact once. */
import type { Alert } from '../alert.ts';
import { mapSliced, type Sliced } from '../slices.ts';
import { uniteAnnouncements } from './announcement-content.ts';
import type { Chains } from './chains.ts';
import { type Content, type Detection, describe, type Fact, UNKNOWN } from './content.ts';

/** Most urgent first. `undefined` stands for every undocumented assessment. */
const KNOWN = ['CRITICAL', 'SUSPICIOUS', undefined, 'NOTIFICATION', 'FOLLOW-UP', 'OK', 'TEST'];

/** A lower rank is more urgent. */
export const rankOf = (severity: string): number => {
  const rank = KNOWN.indexOf(severity);
  return rank < 0 ? KNOWN.indexOf(undefined) : rank;
};

const unique = <T>(values: readonly T[]): T[] => [...new Set(values)];

/** `Vault A + 2 more`. */
const someOf = (names: readonly string[], shown = 1): string =>
  names.length > shown ? `${names.slice(0, shown).join(', ')} + ${names.length - shown} more` : names.join(', ');

const LABELLED_WITH = 3;

/** The protocols that have it in common; undefined if all of them do. */
const ownersOf = (owned: readonly { protocol: string }[], all: number): string | undefined => {
  const owners = unique(owned.map(({ protocol }) => protocol));
  return owners.length === all ? undefined : someOf(owners, LABELLED_WITH);
};

const detectionsOf = (contents: readonly Content[], all: number): Detection[] => {
  const owned = contents.flatMap(({ protocol, detections }) =>
    detections.map((detection) => ({ protocol, detection })),
  );
  const same = Map.groupBy(owned, ({ detection: { name, message } }) => JSON.stringify([name, message]));
  return [...same.values()].flatMap((group) => {
    const owners = ownersOf(group, all);
    return group.slice(0, 1).map(({ detection: { name, message } }) => {
      return { name: owners === undefined ? name : `${name} (${owners})`, message };
    });
  });
};

const listFact = (label: string, items: string[]): Fact =>
  items.length > 1 ? { label, value: items.join(', '), items } : { label, value: items[0] ?? UNKNOWN };

const known = (items: string[]): string[] => {
  const named = items.filter((item) => item !== UNKNOWN);
  return named.length > 0 ? named : items;
};

interface OwnedFact {
  protocol: string;
  fact: Fact;
}

/** Facts that differ for every inspection: their values are listed. */
const UNITED = new Set(['Assets', 'Inspection']);

const SHOWN_TIME = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC/;

/** The first time with its remarks, and the last; undefined if one of them is no time. */
const lastTime = (values: readonly string[]): string | undefined => {
  const [first, ...others] = values.toSorted();
  const [last] = SHOWN_TIME.exec(others.at(-1) ?? '') ?? [];
  return first !== undefined && last !== undefined && SHOWN_TIME.test(first) ? `${first}, the last ${last}` : undefined;
};

/** Splits `VALUE (REMARK)`; the remark may be empty. */
const remarkIn = (text: string): [value: string, remark: string] => {
  const [, value = text, remark = ''] = /^(\S+) \((.*)\)$/.exec(text) ?? [];
  return [value, remark];
};

/** The same address with different remarks becomes one link with all the remarks. */
const uniteLinked = ([first, ...others]: readonly Fact[]): Fact | undefined => {
  if (first?.url === undefined || others.some(({ url }) => url !== first.url)) return undefined;
  const remarks = unique([first, ...others].map(({ value }) => remarkIn(value)[1]).filter((remark) => remark !== ''));
  const positive = remarks.filter((remark) => !remark.startsWith('not '));
  const said = positive.length > 0 ? positive : remarks;
  const [value] = remarkIn(first.value);
  return { ...first, value: said.length > 0 ? `${value} (${said.join('; ')})` : value };
};

const uniteFact = (label: string, owned: readonly OwnedFact[], contents: number, all: number): Fact => {
  const facts = owned.map(({ fact }) => fact);
  const byValue = [...Map.groupBy(owned, ({ fact }) => fact.value)];
  if (facts[0] && byValue.length === 1 && owned.length === contents) return facts[0];
  if (UNITED.has(label)) return listFact(label, known(unique(facts.flatMap(({ items, value }) => items ?? [value]))));
  const linked = uniteLinked(facts);
  if (linked) return linked;
  const time = label === 'Inspected' ? lastTime(byValue.map(([value]) => value)) : undefined;
  if (time !== undefined) return { label, value: time };
  const items = byValue.map(([value, group]) => {
    const owners = ownersOf(group, all);
    return owners === undefined ? value : `${owners}: ${value}`;
  });
  return listFact(label, items);
};

/** The transaction first, then the protocols, the ids last. */
const factsOf = (contents: readonly Content[], protocols: string[]): Fact[] => {
  const owned = contents.flatMap(({ protocol, facts }) => facts.map((fact) => ({ protocol, fact })));
  const byLabel = Map.groupBy(owned, ({ fact }) => fact.label);
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
 * Everything that people read about one incident's alerts (see `incidentsOf`): the worst severity, all protocols and
 * assets, and each detection once, with its protocols unless it holds for all. For one alert the same as `describe`. Pure.
 */
export function* describeIncident(alerts: readonly Alert[], chains: Chains, sentAt: string): Sliced<Content> {
  const contents = yield* mapSliced(alerts, (alert) => describe(alert, chains, sentAt));
  const isReplay = alerts.some(({ replay }) => replay);
  yield;
  return uniteAnnouncements(alerts, contents) ?? unite(contents, isReplay);
}
