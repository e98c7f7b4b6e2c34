/** `tocsin dead list` and `dead show`: deliveries that failed for good. */

import { chainsOf } from '../channels/configured-chains.ts';
import { type Content, describe } from '../channels/content.ts';
import { UsageError } from '../errors.ts';
import { createTracer, readLetters } from '../features/trace/trace.ts';
import type { DeadDelivery } from '../ledger/dead-letters.ts';
import { NO_DESTINATION, targetOf } from '../ledger/record.ts';
import { cleanLine, counted, countedInWords } from '../text.ts';
import { clock } from '../time.ts';
import { type CommandContext, type CommonOptions, EXIT, type ExitCode, writeJson } from './context.ts';
import { createSelector, type DeadFilters, type DeadSelection, type Selected } from './dead-selection.ts';
import { indented, renderTable } from './table.ts';
import { exactTime, historyLines } from './trace-text.ts';
import { type View, withView } from './with-view.ts';

/** The length of the beginning of an id that is enough to name it. */
const SHORT_ID = 14;

export const countText = (count: number): string => countedInWords(count, 'dead delivery', 'dead deliveries');

/** Throws a `UsageError` where a name fits none. */
export const findLetters = async ({ store }: View, selection: DeadSelection): Promise<Selected['ids']> => {
  const selector = createSelector(selection);
  for await (const letters of readLetters(store.dead)) selector.take(letters);
  const { ids, unknown } = selector.result();
  if (unknown.length > 0)
    throw new UsageError(`no dead delivery is named ${unknown.map((each) => `'${each}'`).join(', ')}`);
  return ids;
};

/** As it may be shown: an address may hold a secret, so it stays where it is. */
const shown = ({ destination, ...letter }: DeadDelivery) => ({
  ...letter,
  destination: targetOf(destination ?? NO_DESTINATION),
});
type Shown = ReturnType<typeof shown>;

/** A long list must not hold every item. */
const withoutItem = ({ alert, ...letter }: Shown) => {
  const { item: _item, ...summary } = alert;
  return { ...letter, alert: summary };
};
type Listed = ReturnType<typeof withoutItem>;

const placeText = ({ destination: { kind, label } }: Pick<Shown, 'destination'>): string =>
  kind === NO_DESTINATION.kind ? label : `${kind} ${label}`;

const listText = (letters: readonly Listed[], width: number | undefined): string =>
  renderTable<Listed>(
    letters,
    [
      { head: 'id', cell: ({ id }) => id.slice(0, SHORT_ID) },
      { head: 'died (UTC)', cell: ({ at }) => clock(at) },
      { head: 'protocol', cell: ({ alert }) => alert.protocol },
      { head: 'to', shrinks: true, cell: placeText },
      { head: 'reason', cell: ({ reason }) => reason },
      { head: 'tries', isNumber: true, cell: ({ attempts }) => attempts },
    ],
    { width, below: ({ message }) => (message === '' ? [] : [message]) },
  );

export const listDead = (options: CommonOptions & DeadFilters, context: CommandContext): Promise<ExitCode> =>
  withView(options, context, async (view) => {
    const letters: Listed[] = [];
    const ids = await findLetters(view, { ids: [], ...options });
    for await (const some of readLetters(view.store.dead, ids)) letters.push(...some.map(shown).map(withoutItem));
    if (options.json === true) writeJson(context, letters);
    else
      context.show(
        `${letters.length === 0 ? '' : `${listText(letters, context.width)}\n`}${countText(letters.length)}\n`,
      );
    return EXIT.done;
  });

const contentLines = ({ headline, detections, message, facts }: Content): string[] => [
  headline,
  ...detections.map((each) => (each.message === '' ? each.name : `${each.name}: ${each.message}`)),
  ...(message === undefined ? [] : [message]),
  ...facts.filter(({ label }) => label !== 'Sent').map(({ label, value }) => `${label}: ${value}`),
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

export const showDead = (options: CommonOptions & { id: string }, context: CommandContext): Promise<ExitCode> =>
  withView(options, context, async (view, config) => {
    const ids = await findLetters(view, { ids: [options.id] });
    const letters = await view.store.dead.get(ids);
    if (options.json === true) {
      writeJson(context, letters.map(shown));
      return EXIT.done;
    }
    const trace = createTracer({ ...view.store, services: [] });
    for (const letter of letters) {
      const deliveries = (await trace(letter.alert.id)).flatMap((each) => each.deliveries);
      const history = deliveries.filter(({ id }) => id === letter.id).flatMap(historyLines);
      context.write(showText(shown(letter), describe(letter.alert, chainsOf(config), letter.at), history));
    }
    return EXIT.done;
  });
