/** The folded part of a message: everything in full, each value alone so that it can be copied. Pure. */
import { cleanLine } from '../../text.ts';
import { clockText } from '../../time.ts';
import type { Fact } from './content.ts';
import type { Contract, Finding, Origin, Reference } from './finding.ts';
import { inlineName } from './names.ts';

const noted = (text: string): Pick<Fact, 'note'> => {
  const note = cleanLine(text);
  return note === '' ? {} : { note };
};

/** Whatever is foreign has one line: a second one would pass for ours. */
const fact = (label: string, foreign: string, note = ''): Fact[] => {
  const value = cleanLine(foreign);
  return value === '' ? [] : [{ label, value, ...noted(note) }];
};

const codeFact = (label: string, { whole, url }: Pick<Reference, 'whole' | 'url'>, note = ''): Fact => ({
  ...{ label, value: cleanLine(whole), code: true as const },
  ...noted(note),
  ...(url === undefined ? {} : { url }),
});

const clockFact = (label: string, at: number): Fact[] => (Number.isNaN(at) ? [] : fact(label, clockText(at)));

/** `Base (8453)`, or the id alone of a chain that nobody knows; empty where the item names none. */
export const chainText = ({ chain }: Pick<Finding, 'chain'>): string => {
  if (chain === undefined) return '';
  return chain.name === undefined ? chain.id : `${chain.name} (${chain.id})`;
};

const originNote = ({ adminOf }: Origin): string => {
  if (adminOf === undefined) return '';
  return adminOf.length === 0 ? 'not an admin' : `an admin of ${adminOf.map(inlineName).join(', ')}`;
};

const contractFact = ({ name, at }: Contract): Fact[] =>
  at === undefined ? fact('Contract', name ?? '') : [codeFact('Contract', at, name)];

/** Several protocols, or a long name, are not whole in the title. */
const isWholeInTitle = ([first = '', ...others]: readonly string[]): boolean =>
  others.length === 0 && inlineName(first) === first;

/** The transaction first, the ids last. `sentAt` in epoch milliseconds. */
export const findingDetails = (
  finding: Finding,
  { protocols, detectors, sentAt }: { protocols: readonly string[]; detectors: readonly string[]; sentAt: number },
): Fact[] => [
  ...(finding.transaction === undefined ? [] : [codeFact('Transaction', finding.transaction)]),
  ...fact('Chain', chainText(finding)),
  ...(isWholeInTitle(protocols) ? [] : fact('Protocols', protocols.join(', '))),
  ...finding.origins.map((origin) => codeFact('Origin', origin, originNote(origin))),
  ...finding.methods.map(({ name, isPrivileged }) =>
    codeFact('Method', { whole: name }, isPrivileged ? 'privileged' : ''),
  ),
  ...finding.contracts.flatMap(contractFact),
  ...fact('Detectors', detectors.join(', ')),
  ...finding.triggers.flatMap((trigger) => fact('Trigger', trigger)),
  ...fact('Not fired', finding.notFired.join(', ')),
  ...clockFact('Transaction time', finding.transactionAt),
  ...clockFact('Inspected', finding.inspectedAt),
  ...clockFact('Sent', sentAt),
  ...finding.ids.map((id) => codeFact('Inspection', { whole: id })),
];

/** Of a stored notification. */
export const notificationDetails = ({
  transaction,
  storedAt,
  sentAt,
  id,
}: {
  transaction?: string;
  storedAt: number;
  sentAt: number;
  id: string;
}): Fact[] => [
  ...(transaction === undefined ? [] : [codeFact('Transaction', { whole: transaction })]),
  ...clockFact('Stored', storedAt),
  ...clockFact('Sent', sentAt),
  codeFact('Notification', { whole: id }),
];
