/** Which buttons a message has, and what it says of those who acknowledged it. */
import { type Alert, firedDetectors } from '../../alert.ts';
import type { Annotation, Button } from '../../channels/buttons.ts';
import { createGlobs } from '../../globs.ts';
import { formatDuration } from '../../schema/fields.ts';
import type { MuteRules } from '../mutes/new-mute.ts';
import type { AcknowledgementStore, ButtonMessage } from './store.ts';
import { noteOf } from './words.ts';

const HOUR_MS = 3_600_000;

/** How long the second button mutes. */
export const muteLengthOf = ({ maxLength }: MuteRules): number => Math.min(HOUR_MS, maxLength);

/** A mute from a message is one that a person can take in. */
const MOST = { protocols: 5, detectors: 20, nameLength: 100 };

/**
 * The detectors that fired, by protocol; undefined where a mute of them would not hide these alerts: none fired, `never`
 * names one, or there are too many; or a name is too long to be read.
 */
export const detectorsOf = (
  alerts: readonly Pick<Alert, 'source' | 'item' | 'protocol'>[],
  { never }: MuteRules,
): [string, string[]][] | undefined => {
  const byProtocol = Map.groupBy(alerts, ({ protocol }) => protocol);
  const found = [...byProtocol].map(([protocol, some]): [string, string[]] => [
    protocol,
    [...new Set(some.flatMap(firedDetectors))],
  ]);
  const names = found.flatMap(([, detectors]) => detectors);
  const isHidden = found.every(([, detectors]) => detectors.length > 0) && !names.some(createGlobs(never));
  const isFew = found.length <= MOST.protocols && names.length <= MOST.detectors;
  const isShort = [...byProtocol.keys(), ...names].every(({ length }) => length <= MOST.nameLength);
  return found.length > 0 && isHidden && isFew && isShort ? found : undefined;
};

const muteLabel = (detectors: readonly [string, string[]][], rules: MuteRules): string => {
  const names = new Set(detectors.flatMap(([, some]) => some));
  return `Mute ${names.size === 1 ? 'this detector' : 'these detectors'} ${formatDuration(muteLengthOf(rules))}`;
};

/** What stands below the message now. */
export const annotationOf = async (
  token: string,
  { alerts, detectors }: Pick<ButtonMessage, 'alerts' | 'detectors'>,
  store: Pick<AcknowledgementStore, 'acknowledged'> | undefined,
  rules: MuteRules,
): Promise<Annotation> => {
  const known = [...((await store?.acknowledged(alerts))?.values() ?? [])];
  const note = noteOf(known, alerts.length);
  const buttons: Button[] = [
    ...(known.length >= alerts.length ? [] : [{ name: 'acknowledge' as const, label: 'Acknowledge' }]),
    ...(detectors === undefined ? [] : [{ name: 'mute' as const, label: muteLabel(detectors, rules) }]),
  ];
  return { token, buttons, ...(note === undefined ? {} : { note }) };
};
