/** Who and what of a finding: in a few short lines that help to decide, and in full in the details. Pure. */
import type { Alert } from '../../alert.ts';
import { cleanLine, counted, listText } from '../../text.ts';
import { clockText, DAY_MS, elapsedText } from '../../time.ts';
import { timeOfDay } from './clock.ts';
import type { Detection, Fact, Growth, Line, Piece } from './content.ts';
import type { Contract, Finding, Origin, Reference } from './finding.ts';
import { inlineName } from './foreign.ts';
import { PROTOCOLS_MAX } from './gist.ts';
import type { Reading } from './reading.ts';

interface Clock {
  /** The time of sending, in epoch milliseconds. */
  now: number;
  timeZone: string;
}

/** Names in one line; the details have all. */
const NAMED_MAX = 3;

const words = (text: string): Piece => ({ text });

/** A hash or an address, short, behind a name where it has one; the whole is what a reader copies. */
export const referencePiece = ({ whole, short, url }: Reference, name = ''): Piece => ({
  text: name === '' ? short : `${name} ${short}`,
  ...(url === undefined ? { code: true } : { url }),
  copy: short === whole && name === '' ? undefined : whole,
});

const contractPiece = ({ name, at }: Contract): Piece => {
  const shown = name === undefined ? '' : inlineName(name);
  return at === undefined ? words(shown) : referencePiece(at, shown);
};

/** One line of several, with `between` between them; nothing for those that are empty. */
const parted = (all: readonly Line[], between: string): Piece[] =>
  all.filter(({ length }) => length > 0).flatMap((part, index) => (index === 0 ? part : [words(between), ...part]));

/** With commas between them; of many only the first, and how many more there are. */
const listed = (all: readonly Line[]): Piece[] => {
  const more = all.length - NAMED_MAX;
  const shown = parted(all.slice(0, NAMED_MAX), ', ');
  return more > 0 ? [...shown, words(` and ${more} more`)] : shown;
};

const chainName = ({ chain }: Finding): string => (chain === undefined ? '' : (chain.name ?? `chain ${chain.id}`));

/** The transaction and its chain; no line where the item names none. */
export const transactionLine = (finding: Finding): Line[] => {
  const { transaction } = finding;
  if (transaction === undefined) return [];
  const chain = inlineName(chainName(finding));
  return [[referencePiece(transaction), ...(chain === '' ? [] : [words(` on ${chain}`)])]];
};

/** Of the only contract, which the call names, it is an admin and no more. */
const adminText = ({ adminOf }: Origin, contracts: readonly Contract[]): string[] => {
  if (adminOf === undefined) return [];
  const [contract] = contracts;
  if (contracts.length === 1 && adminOf.length === 1 && adminOf[0] === contract?.name) return ['an admin'];
  return adminOf.length === 0 ? ['not an admin'] : [`an admin of ${listText(adminOf.map(inlineName), 2)}`];
};

/** A memory that is too young says nothing of what is new. `now` in epoch milliseconds. */
export const remembersLong = ({ since }: Finding['first'], now: number): boolean => now - since >= DAY_MS;

const firstText = ({ origins, first }: Finding, now: number): string[] => {
  if (!remembersLong(first, now)) return [];
  const days = counted(Math.floor((now - first.since) / DAY_MS), 'day');
  // Behind `From ...` it is clear whose.
  if (first.origin) return [`first alert${origins.length === 1 ? '' : ' from this sender'} in ${days}`];
  return first.detectors ? [`first alert of these detectors in ${days}`] : [];
};

/** Who has become an admin lately may be who wants to pass for one. */
const sinceLine = ({ adminSince }: Origin, { now, timeZone }: Clock): Line =>
  Number.isNaN(adminSince) ? [] : [words(' since '), { text: timeOfDay(adminSince, now, timeZone), at: adminSince }];

const originLine = (finding: Finding, clock: Clock, word = 'From'): Line[] => {
  const { origins, contracts } = finding;
  const [origin, ...others] = origins;
  const judged = origin === undefined || others.length > 0 ? [] : [origin];
  const admin = judged.flatMap((one) =>
    adminText(one, contracts).map((text) => [words(text), ...sinceLine(one, clock)]),
  );
  const remarks = [...admin, ...firstText(finding, clock.now).map((text) => [words(text)])];
  if (origins.length === 0 && remarks.length === 0) return [];
  const from = origins.length === 0 ? [] : [words(`${word} `), ...listed(origins.map((one) => [referencePiece(one)]))];
  return [parted([from, ...remarks], ' · ')];
};

const callLine = ({ methods, contracts }: Finding): Line[] => {
  const calls = methods.map(({ name, isPrivileged }): Line => {
    const text = inlineName(name);
    const call: Piece = { text, code: true, copy: text === name ? undefined : name };
    return isPrivileged ? [call, words(' (privileged)')] : [call];
  });
  const on = listed(contracts.map((one) => [contractPiece(one)]));
  if (calls.length === 0 && on.length === 0) return [];
  const call = [words('Call '), ...listed(calls)];
  if (calls.length === 0) return [[words(contracts.length === 1 ? 'Contract ' : 'Contracts '), ...on]];
  return [[...call, ...(on.length === 0 ? [] : [words(' on '), ...on])]];
};

/** What a reader misses, and where it is found. Origin and contract stand in the transaction, which is linked. */
const missingLine = ({ transaction }: Finding, detections: readonly Detection[]): Line[] => {
  const missing = [
    ...(detections.length === 0 ? ['what was found'] : []),
    ...(transaction === undefined ? ['in which transaction'] : []),
  ];
  const look = transaction === undefined ? 'the inspection up there, by its id in the details' : 'at the transaction';
  return missing.length === 0
    ? []
    : [[words(`The monitoring service does not say ${missing.join(' or ')}: look ${look}.`)]];
};

/** What was called, and where, differs from protocol to protocol: the details have it. */
const incidentLine = (finding: Finding, clock: Clock): Line[] => {
  const known = { ...finding, first: { ...finding.first, origin: false, detectors: false } };
  const line = parted([...transactionLine(finding), ...originLine(known, clock, 'from')], ' · ');
  return line.length === 0 ? [] : [line];
};

export const findingLines = ({ finding, detections, each }: Reading, clock: Clock): Line[] => [
  ...(each === undefined
    ? [...transactionLine(finding), ...originLine(finding, clock), ...callLine(finding)]
    : incidentLine(finding, clock)),
  ...missingLine(finding, detections),
];

/** Whole seconds of both clocks, so that the time that passed agrees with what they show; undefined for a clock that is behind. */
const passed = (from: number, to: number): string | undefined => {
  const seconds = Math.floor(to / 1000) - Math.floor(from / 1000);
  return seconds < 0 ? undefined : elapsedText(seconds * 1000);
};

const growthPieces = ({ times }: Growth, after: string | undefined): Piece[] => [
  words(` · updated ${times === 1 ? 'once' : `${times} times`}`),
  ...(after === undefined ? [] : [words(`, ${times === 1 ? '' : 'last '}+${after}`)]),
];

/**
 * `02:40:47 UTC · inspected +14 s · sent +15 s`, `02:40:47 UTC · sent +1 s · updated 4 times, last +4 s`: the first moment by the
 * clock, the others by what passed since. Moments are epoch milliseconds by their word, which is empty for the
 * transaction's own; NaN is left out.
 */
export const timesLine = (
  moments: { readonly sent: number } & Record<string, number>,
  timeZone: string,
  grew?: Growth | undefined,
): Line => {
  const [first, ...others] = Object.entries(moments).filter(([, at]) => !Number.isNaN(at));
  if (first === undefined) return [];
  const [word, begun] = first;
  const clock = (at: number): Piece => ({ text: timeOfDay(at, moments.sent, timeZone), at });
  const later = others.flatMap(([name, at]): Piece[] => {
    const after = passed(begun, at);
    return after === undefined ? [words(` · ${name} `), clock(at)] : [words(` · ${name} +${after}`)];
  });
  const growth = grew === undefined ? [] : growthPieces(grew, passed(begun, grew.at));
  return [...(word === '' ? [] : [words(`${word} `)]), clock(begun), ...later, ...growth];
};

/** Text from outside has one line: a second one would pass for ours. */
const fact = (label: string, foreign: string, note = ''): Fact[] => {
  const value = cleanLine(foreign);
  return value === '' ? [] : [{ label, value, note: cleanLine(note) || undefined }];
};

const codeFact = (label: string, { whole, url }: Pick<Reference, 'whole' | 'url'>, note = ''): Fact => ({
  label,
  value: cleanLine(whole),
  code: true,
  note: cleanLine(note) || undefined,
  url,
});

const clockFact = (label: string, at: number): Fact[] => (Number.isNaN(at) ? [] : fact(label, clockText(at)));

/** `Base (8453)`, or the id alone of a chain that nobody knows; empty where the item names none. */
export const chainText = ({ chain }: Pick<Finding, 'chain'>): string => {
  if (chain === undefined) return '';
  return chain.name === undefined ? chain.id : `${chain.name} (${chain.id})`;
};

const adminNote = ({ adminOf, adminSince }: Origin): string[] => {
  if (adminOf === undefined) return [];
  const since = Number.isNaN(adminSince) ? '' : ` since ${clockText(adminSince)}`;
  return adminOf.length === 0 ? ['not an admin'] : [`an admin of ${adminOf.map(inlineName).join(', ')}${since}`];
};

const contractFact = ({ name, at }: Contract): Fact[] =>
  at === undefined ? fact('Contract', name ?? '') : [codeFact('Contract', at, name)];

/** A long name is not whole in the title; nor are many protocols below it, and there may be no room for what is of each. */
const areAllShown = ([first = '', ...others]: readonly string[]): boolean =>
  others.length === 0 ? inlineName(first) === first : others.length < PROTOCOLS_MAX;

/** What was called, and on which contracts. */
const callFacts = ({ methods, contracts }: Finding): Fact[] => [
  ...methods.map(({ name, isPrivileged }) => codeFact('Method', { whole: name }, isPrivileged ? 'privileged' : '')),
  ...contracts.flatMap(contractFact),
];

const triggerFacts = ({ triggers }: Finding): Fact[] => triggers.flatMap((trigger) => fact('Trigger', trigger));

const inspectionFacts = ({ ids }: Finding): Fact[] => ids.map((id) => codeFact('Inspection', { whole: id }));

/** What is of one protocol, below its name. */
const protocolFacts = ({ protocols, finding }: Reading): Fact[] =>
  [
    ...fact('Protocol', protocols.join(', ')).map((one): Fact => ({ ...one, isHeading: true })),
    ...callFacts(finding),
    ...triggerFacts(finding),
    ...inspectionFacts(finding),
  ].map((one) => ({ ...one, isOfOne: true }));

/** The transaction first, then what is of each of several protocols; of one the ids last. `detectors`: their ids; `sentAt` in epoch milliseconds. */
export const findingDetails = (
  { finding, protocols, each = [] }: Reading,
  detectors: readonly string[],
  sentAt: number,
): Fact[] => {
  // Of one protocol it stands above.
  const first = each.length === 0 ? [] : firstText(finding, sentAt);
  return [
    ...(finding.transaction === undefined ? [] : [codeFact('Transaction', finding.transaction)]),
    ...each.flatMap(protocolFacts),
    ...fact('Chain', chainText(finding)),
    ...(areAllShown(protocols) ? [] : fact('Protocols', protocols.join(', '))),
    ...finding.origins.map((origin) => codeFact('Sender', origin, [...adminNote(origin), ...first].join('; '))),
    ...(each.length === 0 ? callFacts(finding) : []),
    ...fact('Detectors', detectors.join(', ')),
    ...(each.length === 0 ? triggerFacts(finding) : []),
    ...fact('Not fired', finding.notFired.join(', ')),
    ...clockFact('Transaction time', finding.transactionAt),
    ...clockFact('Inspected', finding.inspectedAt),
    ...clockFact('Sent', sentAt),
    ...(each.length === 0 ? inspectionFacts(finding) : []),
  ];
};

/** Of a stored notification. */
export const notificationDetails = (
  { txHash, itemId }: Pick<Alert, 'txHash' | 'itemId'>,
  storedAt: number,
  sentAt: number,
): Fact[] => [
  ...(txHash === undefined ? [] : [codeFact('Transaction', { whole: txHash })]),
  ...clockFact('Written', storedAt),
  ...clockFact('Sent', sentAt),
  codeFact('Notification', { whole: itemId }),
];
