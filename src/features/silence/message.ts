/** What people read where nothing is inspected of a protocol any more, and when that is over. Pure. */
import { listText, nameText } from '../../text.ts';
import { ageText, clockText, durationText } from '../../time.ts';
import type { Silence } from './habit.ts';

export interface SilentProtocol extends Silence {
  protocol: string;
}

/** A message names at most this many protocols. */
const NAMED = 10;

const habitText = ({ expectEvery, usualMs = 0 }: Silence): string =>
  expectEvery === undefined
    ? `usually one comes every ${ageText(usualMs)}`
    : `expectEvery: ${durationText(expectEvery)}`;

const factsText = (silence: Silence): string => `${ageText(silence.forMs)}; ${habitText(silence)}`;

export const silentText = (service: string, silent: readonly SilentProtocol[]): string => {
  const at = `of the monitoring service ${nameText(service)}`;
  const [first] = silent;
  const named = silent.slice(0, NAMED).map((one) => `- ${nameText(one.protocol)}: for ${factsText(one)}`);
  const others = silent.length > NAMED ? [`- and ${silent.length - NAMED} more`] : [];
  const what =
    first === undefined || silent.length > 1
      ? [`Nothing has been inspected of ${silent.length} protocols ${at} for long.`, ...named, ...others]
      : [`Nothing has been inspected of ${nameText(first.protocol)} ${at} for ${factsText(first)}.`];
  return [
    ...what,
    'The service answers, but it may have stopped to inspect. No alert can be found meanwhile.',
    'To do: ask whoever runs the service. `tocsin inspections list` shows the last inspections, `tocsin protocols history` whether somebody changed the protocol. If so long a pause is usual, set `expectEvery` in `protocols.overrides`.',
  ].join('\n');
};

/** `since`: ISO 8601. `gone`: those that are not watched any more. */
export const heardText = (
  service: string,
  { protocols, gone, since }: { protocols: readonly string[]; gone: number; since: string },
): string => {
  const how = gone === protocols.length ? 'Not watched any more' : 'Inspected again';
  return [
    `${how}: ${listText(protocols, NAMED, nameText)} of the monitoring service ${nameText(service)}.`,
    `Nothing was inspected since ${clockText(since)}.`,
  ].join('\n');
};
