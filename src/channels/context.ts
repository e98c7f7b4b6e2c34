/** An alert's context in words. Unknown values are shown as unknown; an alert without `context` gets no words at all. */
import { type Alert, type AlertContext, hasFired, type JsonObject } from '../alert.ts';
import { cleanLine, counted, shorten } from '../text.ts';
import { objectOf, timeText, UNKNOWN } from './field.ts';

const MOST_NAMES = 20;
const NAME_LIMIT = 60;

/** In one line, however many names there are. */
const listed = (names: readonly string[]): string => {
  const shown = names.slice(0, MOST_NAMES).map((name) => shorten(cleanLine(name) || 'unnamed', NAME_LIMIT));
  return [...shown, ...(names.length > shown.length ? [`and ${names.length - shown.length} more`] : [])].join(', ');
};

/** Detectors that did not fire. */
export const notFiredText = ({ detections }: JsonObject): string => {
  const all = Object.entries(objectOf(detections));
  const names = all.filter(([, detection]) => !hasFired(detection)).map(([name]) => name);
  if (names.length > 0) return listed(names);
  return all.length > 0 ? 'none' : UNKNOWN;
};

/** This text goes into the label of a link, so it shows only plain names. */
const PLAIN_NAME = /^[\p{L}\p{N}][\p{L}\p{N} .-]{0,39}$/u;

const assetsText = ([first = '', ...others]: readonly string[]): string => {
  const name = PLAIN_NAME.test(first) ? first : 'an asset';
  return others.length === 0 ? name : `${name} and ${others.length} more`;
};

/** A remark in brackets after a value; an unknown value gets none. */
const remark = (value: string, words: string): string => (value === UNKNOWN ? value : `${value} (${words})`);

export const originText = (origin: string, { context }: Alert): string => {
  if (context === undefined) return origin;
  const { adminOf } = context;
  if (adminOf === undefined) return remark(origin, 'unknown whether an admin');
  return remark(origin, adminOf.length === 0 ? 'not an admin' : `an admin of ${assetsText(adminOf)}`);
};

export const methodText = (method: string, { context }: Alert): string => {
  if (context === undefined) return method;
  const { privilegedOn } = context;
  if (privilegedOn === undefined) return remark(method, 'unknown whether privileged');
  return remark(method, privilegedOn.length === 0 ? 'not privileged' : 'privileged');
};

const triggerText = ({ trigger }: AlertContext): string => {
  if (trigger === undefined) return UNKNOWN;
  const { groups, matched } = trigger;
  if (groups === 0) return 'no trigger group listed';
  if (matched === undefined) return `none of ${counted(groups, 'group')} fired as a whole`;
  return `group ${matched.number} of ${groups}: ${listed(matched.detectors)}`;
};

const answer = (isFirst: boolean | undefined): string => {
  if (isFirst === undefined) return UNKNOWN;
  return isFirst ? 'yes' : 'no';
};

const firstText = ({ first }: AlertContext): string => {
  if (first === undefined || (first.origin === undefined && first.detectors === undefined)) return UNKNOWN;
  const { origin, detectors, since } = first;
  const memory = origin || detectors ? ` (remembered since ${timeText(since)})` : '';
  return `origin ${answer(origin)}, these detectors ${answer(detectors)}${memory}`;
};

/** Empty for an alert without context. */
export const contextFacts = ({ context }: Alert): { label: string; value: string }[] =>
  context === undefined
    ? []
    : [
        { label: 'First time', value: firstText(context) },
        { label: 'Trigger', value: triggerText(context) },
      ];
