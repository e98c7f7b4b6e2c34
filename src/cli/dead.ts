/** `tocsin dead list` and `dead show`: deliveries that failed for good. */
import { type Content, lineText } from '../channels/content/content.ts';
import { describe } from '../channels/content/describe.ts';
import { createPresentation } from '../channels/content/presentation.ts';
import { detectionText } from '../channels/digest-content.ts';
import { UsageError } from '../errors.ts';
import { type Names, withName } from '../features/names/names.ts';
import { createTracer, isNamed, readLetters } from '../features/trace/trace.ts';
import type { DeadDelivery } from '../ledger/dead-letters.ts';
import { NO_DESTINATION, nameOf, targetOf } from '../ledger/record.ts';
import { cleanLine, counted, countedInWords } from '../text.ts';
import { clock } from '../time.ts';
import { type Action, answer, EXIT, writeJson } from './context.ts';
import { type Column, indented, renderTable } from './table.ts';
import { exactTime, historyLines } from './trace.ts';
import { type View, withView } from './with-view.ts';

/** Which dead deliveries a command is about: those named, or those that fit. */
interface DeadFilters {
  protocol?: string;
  /** A destination's id, its label, or a channel kind. */
  destination?: string;
  reason?: string;
}

export interface DeadSelection extends DeadFilters {
  ids: readonly string[];
  all?: boolean;
}

const PREFIX = /^msg_[0-9a-f]{4,31}$/;

const fits = ({ alert, destination, reason }: DeadDelivery, filters: DeadFilters): boolean =>
  (filters.protocol === undefined || filters.protocol === alert.protocol) &&
  (filters.reason === undefined || filters.reason === reason) &&
  (filters.destination === undefined ||
    [destination?.id, destination?.label, destination?.kind].includes(filters.destination));

/** Throws a `UsageError` where no deliveries are named: a command without arguments must not mean all of them. */
export const checkSelection = ({ ids, all = false, protocol, destination, reason }: DeadSelection): void => {
  const isFiltered = [protocol, destination, reason].some((value) => value !== undefined);
  if (ids.length > 0 && (all || isFiltered)) {
    throw new UsageError('name deliveries, or take --all and filters, not both');
  }
  if (ids.length === 0 && !all && !isFiltered) {
    throw new UsageError('name deliveries by id, or take --all or a filter: --protocol, --destination, --reason');
  }
};

const foundOf = ({ id, at }: DeadDelivery) => ({ id, at });
type Found = ReturnType<typeof foundOf>;

/** Finds the letters of one name: an exact match, else the letter whose id begins with it. */
const createFinder = (name: string) => {
  const exact: Found[] = [];
  const begun: Found[] = [];
  return {
    name,
    take: (letters: readonly DeadDelivery[]): void => {
      exact.push(...letters.filter((letter) => isNamed(letter, name)).map(foundOf));
      if (PREFIX.test(name)) begun.push(...letters.filter(({ id }) => id.startsWith(name)).map(foundOf));
    },
    found: (): Found[] => {
      if (exact.length > 0) return exact;
      if (begun.length < 2) return begun;
      throw new UsageError(`'${name}' is the beginning of ${begun.length} deliveries: write more of it`);
    },
  };
};

/** Selects from letters that come some at a time; keeps only their ids. */
export const createSelector = ({ ids, ...filters }: DeadSelection) => {
  const finders = ids.map(createFinder);
  const fitting: Found[] = [];
  return {
    take: (letters: readonly DeadDelivery[]): void => {
      for (const finder of finders) finder.take(letters);
      if (ids.length === 0) fitting.push(...letters.filter((letter) => fits(letter, filters)).map(foundOf));
    },
    /** Oldest first, and which names fit none. Throws a `UsageError` where a name could mean several deliveries. */
    result: (): { ids: string[]; unknown: string[] } => {
      const found = [...fitting, ...finders.flatMap((finder) => finder.found())];
      const sorted = found.toSorted((a, b) => a.at.localeCompare(b.at)).map(({ id }) => id);
      const unknown = finders.filter((finder) => finder.found().length === 0).map(({ name }) => name);
      return { ids: [...new Set(sorted)], unknown };
    },
  };
};

/** The length of the beginning of an id that is enough to name it. */
const SHORT_ID = 14;

export const countText = (count: number): string => countedInWords(count, 'dead delivery', 'dead deliveries');

/** Throws a `UsageError` where a name fits none. */
export const findLetters = async ({ store }: View, selection: DeadSelection): Promise<string[]> => {
  const selector = createSelector(selection);
  for await (const letters of readLetters(store.dead)) selector.take(letters);
  const { ids, unknown } = selector.result();
  if (unknown.length > 0)
    throw new UsageError(`no dead delivery is named ${unknown.map((each) => `'${each}'`).join(', ')}`);
  return ids;
};

/** As it may be shown: an address may hold a secret, so it stays where it is. */
const shown = ({ destination, ...letter }: DeadDelivery, names: Names) => ({
  ...letter,
  destination: withName(targetOf(destination ?? NO_DESTINATION), names),
});
type Shown = ReturnType<typeof shown>;

/** A long list must not hold every item. */
const withoutItem = ({ alert, ...letter }: Shown) => {
  const { item: _item, ...summary } = alert;
  return { ...letter, alert: summary };
};
type Listed = ReturnType<typeof withoutItem>;

const placeText = ({ destination }: Pick<Shown, 'destination'>): string =>
  destination.kind === NO_DESTINATION.kind ? destination.label : nameOf(destination);

const COLUMNS: readonly Column<Listed>[] = [
  { head: 'id', cell: ({ id }) => id.slice(0, SHORT_ID) },
  { head: 'died (UTC)', cell: ({ at }) => clock(at) },
  { head: 'protocol', cell: ({ alert }) => alert.protocol },
  { head: 'to', shrinks: true, cell: placeText },
  { head: 'reason', cell: ({ reason }) => reason },
  { head: 'tries', isNumber: true, cell: ({ attempts }) => attempts },
];

export const listDead: Action<DeadFilters> = (options, context) =>
  withView(options, context, async (view) => {
    const letters: Listed[] = [];
    const names = await view.store.names.all();
    const ids = await findLetters(view, { ids: [], ...options });
    for await (const some of readLetters(view.store.dead, ids))
      letters.push(...some.map((one) => withoutItem(shown(one, names))));
    const layout = { ...context, below: ({ message }: Listed) => (message === '' ? [] : [message]) };
    const table = () => (letters.length === 0 ? '' : `${renderTable(letters, COLUMNS, layout)}\n`);
    return answer(context, options, letters, () => `${table()}${countText(letters.length)}\n`, context.show);
  });

const contentLines = ({ headline, detections, message, lines, details }: Content): string[] => [
  headline,
  ...detections.map(detectionText),
  ...(message === undefined ? [] : [message]),
  ...lines.map(lineText),
  ...details
    .filter(({ label }) => label !== 'Sent')
    .map(({ label, value, note }) => `${label}: ${value}${note === undefined ? '' : ` (${note})`}`),
];

const showText = (letter: Shown, content: Content, history: readonly string[]): string =>
  [
    `${letter.id}`,
    `  to        ${cleanLine(placeText(letter))} (destination ${letter.destination.id})`,
    `  died      ${exactTime(letter.at)}, after ${counted(letter.attempts, 'try', 'tries')}`,
    `  because   ${letter.reason}: ${cleanLine(letter.message)}`,
    '',
    ...contentLines(content).flatMap((line) => indented(line)),
    ...(history.length === 0 ? [] : ['', ...history.map((line) => `  ${line}`)]),
    '',
  ].join('\n');

export const showDead: Action<{ id: string }> = (options, context) =>
  withView(options, context, async (view, config) => {
    const ids = await findLetters(view, { ids: [options.id] });
    const letters = await view.store.dead.get(ids);
    const names = await view.store.names.all();
    if (options.json === true) {
      const data = letters.map((letter) => shown(letter, names));
      writeJson(context, data);
      return EXIT.done;
    }
    const trace = createTracer({ ...view.store, services: [] });
    const presentation = createPresentation(config);
    for (const letter of letters) {
      const deliveries = (await trace(letter.alert.id)).flatMap((each) => each.deliveries);
      const history = deliveries.filter(({ id }) => id === letter.id).flatMap(historyLines);
      const content = describe(letter.alert, { presentation, sentAt: Date.parse(letter.at) });
      context.write(showText(shown(letter, names), content, history));
    }
    return EXIT.done;
  });
