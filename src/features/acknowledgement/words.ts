/** Who has acknowledged an alert, and how people read it. Pure. */
import { type Alert, isAnnouncement, isSample, shownName } from '../../alert.ts';
import { timeOfDay } from '../../channels/content/clock.ts';
import { type Line, lineText } from '../../channels/content/content.ts';
import { inlineName } from '../../channels/content/foreign.ts';
import { acknowledgesByLink, placeOf } from '../../channels/registry.ts';
import { capital, cleanLine, counted, listText, quotedName, shorten } from '../../text.ts';
import { ageText, clockText } from '../../time.ts';

/** Somebody has seen an alert and takes care of it. */
export interface Acknowledgement {
  /** A name from outside, as `personName` leaves it. */
  by: string;
  /** Who that is for the platform, which a name does not prove. Absent where nobody proved who it was, as by a link. */
  userId?: string;
  /** The channel kind by which it came. */
  via: string;
  /** The label of the destination whose message was pressed, and its id. */
  to: string;
  destination?: string;
  at: string;
}

/** History and messages of Tocsin itself wait for nobody; a follow-up belongs to an alert that has a button. */
export const mayAcknowledge = (alert: Pick<Alert, 'type' | 'replay' | 'followUp'>): boolean =>
  !alert.replay && alert.followUp === undefined && !isAnnouncement(alert) && !isSample(alert);

const LONGEST_NAME = 40;
const LONGEST_ID = 40;

/** A name as a messenger or a form gives it. */
export const personName = (name: string, otherwise: string): string =>
  shorten(cleanLine(name).trim(), LONGEST_NAME) || otherwise;

export const personId = (id: string): string => shorten(cleanLine(id).trim(), LONGEST_ID);

/** For operators: `“Ann” (U024BE7LH)`. */
export const whoText = ({ by, userId }: { by: string; userId?: string | undefined }): string =>
  userId === undefined ? quotedName(by) : `${quotedName(by)} (${userId})`;

/** Of several the one that came first. */
export const firstOf = (known: Iterable<Acknowledgement>): Acknowledgement | undefined =>
  [...known].toSorted((a, b) => a.at.localeCompare(b.at))[0];

/** `02:45:10 UTC` */
export const timeText = (at: string): string => clockText(at).slice(11);

/** `Acknowledged by “Ann”, 02:45:10 UTC` */
export const acknowledgedText = ({ by, at }: Pick<Acknowledgement, 'by' | 'at'>): string =>
  `Acknowledged by ${quotedName(by)}, ${timeText(at)}`;

/** To those who come later. */
export const alreadyText = ({ by, at }: Pick<Acknowledgement, 'by' | 'at'>): string =>
  `Already acknowledged by ${quotedName(by)} at ${timeText(at)}.`;

/** A name of several words is from outside, and must not pass for words of ours. */
const nameInTitle = ({ by }: Pick<Acknowledgement, 'by'>): string => {
  const name = inlineName(by);
  return /\s/.test(name) ? quotedName(name) : name;
};

/** `Ann is on it`, for a title. */
const onItText = (one: Pick<Acknowledgement, 'by'>): string => `${nameInTitle(one)} is on it`;

/** `20:01:50 UTC on Telegram “Ops room” · 62 s after the alert`. `since`: of the alert, in epoch milliseconds. */
const whenAndWhere = ({ at, via, to }: Acknowledgement, name: string | undefined, since: number | undefined): Line => {
  const moment = Date.parse(at);
  const where = acknowledgesByLink(via)
    ? 'by the link in a mail'
    : `on ${name === undefined ? placeOf({ kind: via, label: cleanLine(to) }) : `${capital(via)} ${shownName({ label: cleanLine(to), name })}`}`;
  const after = since === undefined || moment < since ? '' : ` · ${ageText(moment - since)} after the alert`;
  return [{ text: timeOfDay(moment, since ?? moment, 'UTC'), at: moment }, { text: ` ${where}${after}` }];
};

const areOn = (people: readonly string[], what: string): string =>
  `👀 ${listText(people)} ${people.length === 1 ? 'is' : 'are'} on ${what}`;

/**
 * Who is on what, and what nobody is on: by protocols, where these differ. `👀 Ann is on Harbor Lending · Copper Perps: nobody
 * yet`, else `👀 Ann is on 1 of 2 alerts · nobody on the other yet`, where it is known which: `... (found first) · nobody on what was found since`.
 */
const partText = (known: readonly Acknowledgement[], of: number, protocols: Protocols | undefined): string => {
  const people = [...new Set(known.map(nameInTitle))];
  const { taken = [], open = [] } = protocols ?? {};
  const isApart = taken.length > 0 && open.length > 0 && open.every((one) => !taken.includes(one));
  const listed = (names: readonly string[]): string => listText([...new Set(names.map(inlineName))]);
  if (isApart) return `${areOn(people, listed(taken))} · ${listed(open)}: nobody yet`;
  const some = areOn(people, `${known.length} of ${counted(of, 'alert')}`);
  if (protocols?.isFirst) return `${some} (found first) · nobody on what was found since`;
  return `${some} · nobody on ${of - known.length === 1 ? 'the other' : `the other ${of - known.length}`} yet`;
};

/** Of the alerts that somebody has acknowledged, and of those that nobody has. */
interface Protocols {
  taken: readonly string[];
  open: readonly string[];
  /** All that somebody has acknowledged was found before all that nobody has. */
  isFirst?: boolean;
}

/**
 * What a message says of the acknowledgements of its `of` alerts; undefined where there is none. `lead` begins its title: all
 * of it is acknowledged.
 */
export const noteOf = (
  known: readonly Acknowledgement[],
  {
    of,
    since,
    protocols,
    nameOf,
  }: {
    of: number;
    since?: number | undefined;
    protocols?: Protocols | undefined;
    nameOf(destination: string): string | undefined;
  },
): { lead?: string; note: Line } | undefined => {
  const last = known.toSorted((a, b) => a.at.localeCompare(b.at)).at(-1);
  if (last === undefined) return undefined;
  const rest = whenAndWhere(last, nameOf(last.destination ?? ''), since);
  return known.length >= of
    ? { lead: `👀 ${onItText(last)}`, note: [{ text: 'Acknowledged ' }, ...rest] }
    : { note: [{ text: `${partText(known, of, protocols)} · ` }, ...rest] };
};

/** The same of one alert, in one line: `👀 Ann is on it · acknowledged 20:01:50 UTC on Slack #alerts · 62 s after the alert`. */
export const onItLine = (one: Acknowledgement, since: number, name: string | undefined): string =>
  `👀 ${onItText(one)} · acknowledged ${lineText(whenAndWhere(one, name, Number.isNaN(since) ? undefined : since))}`;
