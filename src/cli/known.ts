/** `tocsin known`: standing remarks of `status` that somebody knows of, each with a reason and an end. */
import { UsageError } from '../errors.ts';
import { KNOWN_FOR, type KnownRemark, knownFacts, newKnown, remarkId } from '../features/conditions/known.ts';
import { clockText } from '../time.ts';
import { type Action, answer, type CommonOptions, EXIT } from './context.ts';
import { authorOf, optionOf } from './options.ts';
import { type Column, renderTable } from './table.ts';
import { type View, withView } from './with-view.ts';

interface AddOptions extends CommonOptions {
  id: string;
  reason: string;
  until?: string;
  author?: string;
}

export const addKnown: Action<AddOptions> = ({ id, until = KNOWN_FOR.usual, ...options }, context) => {
  const wanted = { reason: options.reason, author: authorOf(options), until };
  return withView(options, context, async (view) => {
    const one = (await view.known.conditions()).find((each) => remarkId(each) === id);
    if (one === undefined) {
      throw new UsageError(`no remark '${id}' is there now; \`tocsin status\` has the ids of those that can be known`);
    }
    const known = newKnown(one, wanted, Date.now(), optionOf);
    await view.store.knownRemarks.add(known);
    await view.store.operatorLog.record({ action: 'remark-known', ...knownFacts(known) });
    answer(context, options, known, () => `${id}: known until ${clockText(known.until)}: ${known.what}\n`);
    return EXIT.done;
  });
};

interface Shown extends KnownRemark {
  /** What it says is so now. */
  isThere: boolean;
}

const COLUMNS: readonly Column<Shown>[] = [
  { head: 'remark', cell: ({ id }) => id },
  { head: 'known until', cell: ({ until }) => clockText(until) },
  { head: 'by', shrinks: true, cell: ({ author }) => author },
  { head: 'now', cell: ({ isThere }) => (isThere ? 'there' : 'gone') },
  { head: 'what', isRemark: true, cell: ({ what }) => what },
];

const shownOf = async ({ store, known }: View): Promise<Shown[]> => {
  const there = new Set((await known.conditions()).filter((one) => one.known !== undefined).map(remarkId));
  return (await store.knownRemarks.list()).map((one) => ({ ...one, isThere: there.has(one.id) }));
};

export const listKnown: Action = (options, context) =>
  withView(options, context, async (view) => {
    const shown = await shownOf(view);
    const layout = { ...context, below: ({ reason }: Shown) => [reason] };
    const text = () => (shown.length === 0 ? 'no remark is marked as known\n' : renderTable(shown, COLUMNS, layout));
    return answer(context, options, shown, text, context.show);
  });

export const endKnown: Action<{ id: string }> = ({ id, ...options }, context) =>
  withView(options, context, async (view) => {
    const known = (await shownOf(view)).find((one) => one.id === id);
    if (known === undefined) {
      throw new UsageError(`no remark '${id}' is marked as known; \`tocsin known list\` shows those that are`);
    }
    await view.store.knownRemarks.end(id);
    await view.store.operatorLog.record({ action: 'remark-counted', ...knownFacts(known) });
    const rest = known.isThere ? 'it counts again' : 'what it says is gone';
    return answer(context, options, known, () => `${id}: no longer marked as known; ${rest}\n`);
  });
