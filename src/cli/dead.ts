/** `tocsin dead list` and `dead show`: deliveries that failed for good. */

import { type Content, lineText } from '../channels/content/content.ts';
import { describe } from '../channels/content/describe.ts';
import { createPresentation } from '../channels/content/presentation.ts';
import { detectionText } from '../channels/digest-content.ts';
import { UsageError } from '../errors.ts';
import { type Names, withName } from '../features/names/show.ts';
import { createTracer, readLetters } from '../features/trace/trace.ts';
import type { DeadDelivery } from '../ledger/dead-letters.ts';
import { NO_DESTINATION, nameOf, targetOf } from '../ledger/record.ts';
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
    const names = await view.store.names.all();
    const ids = await findLetters(view, { ids: [], ...options });
    for await (const some of readLetters(view.store.dead, ids))
      letters.push(...some.map((one) => withoutItem(shown(one, names))));
    if (options.json === true) writeJson(context, letters);
    else
      context.show(
        `${letters.length === 0 ? '' : `${listText(letters, context.width)}\n`}${countText(letters.length)}\n`,
      );
    return EXIT.done;
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

export const showDead = (options: CommonOptions & { id: string }, context: CommandContext): Promise<ExitCode> =>
  withView(options, context, async (view, config) => {
    const ids = await findLetters(view, { ids: [options.id] });
    const letters = await view.store.dead.get(ids);
    const names = await view.store.names.all();
    if (options.json === true) {
      writeJson(
        context,
        letters.map((letter) => shown(letter, names)),
      );
      return EXIT.done;
    }
    const trace = createTracer({ ...view.store, services: [] });
    const presentation = createPresentation(config);
    for (const letter of letters) {
      const deliveries = (await trace(letter.alert.id)).flatMap((each) => each.deliveries);
      const history = deliveries.filter(({ id }) => id === letter.id).flatMap(historyLines);
      context.write(
        showText(
          shown(letter, names),
          describe(letter.alert, { presentation, sentAt: Date.parse(letter.at) }),
          history,
        ),
      );
    }
    return EXIT.done;
  });
