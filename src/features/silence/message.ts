/** The words about protocols of which nothing is inspected, and that it is over. Pure. */
import { capital, firstFew, namesText, nameText, serviceText } from '../../text.ts';
import { ageText, clockText, durationText } from '../../time.ts';
import { historyOf, TO_DO } from '../announcements/announce.ts';
import type { Silence } from './probe.ts';

export interface SilentProtocol extends Silence {
  protocol: string;
}

const NAMED = 10;

const habitText = ({ expectEvery, usualMs = 0 }: Silence): string =>
  expectEvery === undefined
    ? `usually it is every ${ageText(usualMs)}`
    : `it is expected every ${durationText(expectEvery)}`;

const factsText = (silence: Silence): string => `for ${ageText(silence.forMs)}; ${habitText(silence)}`;

export const silentText = (service: string, silent: readonly SilentProtocol[]): string => {
  const [first] = silent;
  const named = silent.map((one) => `${nameText(one.protocol)}: ${factsText(one)}`);
  const what =
    first === undefined || silent.length > 1
      ? [
          `${silent.length} protocols have not been inspected for long.`,
          ...firstFew(named, NAMED).map((line) => `- ${line}`),
        ]
      : [`Protocol ${nameText(first.protocol)} has not been inspected ${factsText(first)}.`];
  return [
    ...what,
    `${capital(serviceText(service))} answers, but it may have stopped looking at transactions: then no attack on ${silent.length === 1 ? 'this protocol' : 'these protocols'} would be found.`,
    `${TO_DO}ask the people who run the service. \`tocsin inspections list\` shows the last inspections, \`${historyOf(silent)}\` whether somebody changed the protocol. If such a long pause is normal, set expectEvery in protocols.overrides.`,
  ].join('\n');
};

/** `since`: ISO 8601. `gone`: those that are not watched any more. `forMs`: how long it lasted. */
export const heardText = (
  service: string,
  { protocols, gone, since, forMs }: { protocols: readonly string[]; gone: number; since: string; forMs: number },
): string => {
  const isGone = gone === protocols.length;
  const [first = '', ...others] = protocols;
  const how = isGone ? 'not watched any more' : 'inspected again';
  return [
    others.length === 0
      ? `Protocol ${nameText(first)} is ${how} at ${serviceText(service)}.`
      : `${capital(how)}: ${namesText(protocols, NAMED)} at ${serviceText(service)}.`,
    `Nothing was inspected for ${ageText(Math.max(0, forMs))}, since ${clockText(since)}.${isGone ? '' : ' From now on attacks are found again.'}`,
  ].join('\n');
};
