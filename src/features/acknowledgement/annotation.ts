/**
 * Which buttons a message has, what they carry, and what the message says of those who acknowledged it. A token is made with
 * a key that only Redis and the daemons know, and bound to one destination and the alerts of one message there.
 */
import { createHmac } from 'node:crypto';
import { type Alert, type Destination, firedDetectors } from '../../alert.ts';
import type { Annotation, Button } from '../../channels/channel.ts';
import { createGlobs } from '../../globs.ts';
import { formatDuration } from '../../schema/fields.ts';
import { isSame } from '../../secret.ts';
import { HOUR_MS } from '../../time.ts';
import type { MuteRules } from '../mutes/new-mute.ts';
import { NO_NAMES } from '../names/names.ts';
import type { AcknowledgementParts, ButtonMessage } from './store.ts';
import { type Acknowledgement, noteOf } from './words.ts';

/** 16 bytes: short enough for Telegram, which takes 64 characters, and not to be guessed. */
const BYTES = 16;

const sign = (key: string, parts: readonly string[]): string =>
  createHmac('sha256', key).update(JSON.stringify(parts)).digest().subarray(0, BYTES).toString('base64url');

/** The same for the same alerts in any order, on every daemon. */
export const tokenOf = (key: string, destination: Destination['id'], alerts: readonly Alert['id'][]): string =>
  sign(key, ['button', destination, ...alerts.toSorted()]);

/** Whether we made this token for these alerts at this destination. */
export const isTokenOf = (
  token: string,
  key: string,
  destination: Destination['id'],
  alerts: readonly Alert['id'][],
): boolean => isSame(token, tokenOf(key, destination, alerts));

const TOKEN = /^[A-Za-z0-9_-]{22}$/;

/** Anything else is not even looked up. */
export const looksLikeToken = (text: string): boolean => TOKEN.test(text);

const LINK = /^([A-Za-z0-9_-]{22})\.([0-9a-z]{1,9})\.([A-Za-z0-9_-]{22})$/;

/** `expiresAt`: epoch milliseconds. */
export const linkOf = (key: string, token: string, expiresAt: number): string => {
  const expires = Math.floor(expiresAt / 1000).toString(36);
  return `${token}.${expires}.${sign(key, ['link', token, expires])}`;
};

/** The token of a link that this key has signed; `expired` where its time is over, undefined for anything else. */
export const readLink = (key: string, text: string, now: number): { token: string } | 'expired' | undefined => {
  const [, token = '', expires = '', signature = ''] = LINK.exec(text) ?? [];
  if (!isSame(signature, sign(key, ['link', token, expires])) || token === '') return undefined;
  return Number.parseInt(expires, 36) * 1000 > now ? { token } : 'expired';
};

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
  {
    alerts,
    protocols = [],
    since,
    detectors,
    transaction,
  }: Pick<ButtonMessage, 'alerts' | 'protocols' | 'since' | 'detectors' | 'transaction'>,
  /** Who has acknowledged which of it. */
  known: ReadonlyMap<Alert['id'], Acknowledgement>,
  { names, muteRules }: Pick<AcknowledgementParts, 'names' | 'muteRules'>,
): Promise<Annotation> => {
  const called = known.size === 0 ? NO_NAMES : await names();
  const buttons: Button[] = [
    ...(known.size >= alerts.length ? [] : [{ name: 'acknowledge' as const, label: 'Acknowledge' }]),
    ...(detectors === undefined ? [] : [{ name: 'mute' as const, label: muteLabel(detectors, muteRules) }]),
  ];
  const nameOf = (destination: string) => called.get(destination);
  const isTaken = (_: string, index: number): boolean => known.has(alerts[index] ?? '');
  const parts = {
    ...{ taken: protocols.filter(isTaken), open: protocols.filter((one, index) => !isTaken(one, index)) },
    // The alerts of a message that grows are in the order in which they were found.
    isFirst: transaction !== undefined && alerts.findIndex((id) => !known.has(id)) === known.size,
  };
  return { token, buttons, ...noteOf([...known.values()], { of: alerts.length, since, protocols: parts, nameOf }) };
};
