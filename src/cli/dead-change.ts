/** `tocsin dead retry` and `dead drop`: what becomes of deliveries that failed for good. */
import type { ChannelKind, Destination } from '../alert.ts';
import { openRetry } from '../app/approval.ts';
import { UsageError } from '../errors.ts';
import { createDrop, type Resent, type Retried } from '../features/replay/retry.ts';
import { readLetters } from '../features/trace/trace.ts';
import { cleanLine } from '../text.ts';
import { type Action, answer, type CommandContext, type CommonOptions, EXIT } from './context.ts';
import { checkSelection, countText, type DeadSelection, findLetters } from './dead.ts';
import { confirm, createProgress } from './terminal.ts';
import { type View, withView } from './with-view.ts';

type SelectionOptions = CommonOptions & DeadSelection;

const findSome = async (view: View, options: SelectionOptions): Promise<string[]> => {
  checkSelection(options);
  const ids = await findLetters(view, options);
  if (ids.length === 0) throw new UsageError('no dead delivery fits');
  return ids;
};

const resentText = ({ sent, held, waiting, delivered }: Resent): string =>
  [
    ...(sent === 0 && held > 0 ? [] : [`${sent} sent again`]),
    ...(held === 0 ? [] : [`${held} held until approved`]),
    ...(waiting === 0 ? [] : [`${waiting} waiting already`]),
    ...(delivered === 0 ? [] : [`${delivered} delivered meanwhile`]),
  ].join(', ');

export const warnOfIdle = (kinds: readonly ChannelKind[], { warn }: CommandContext): void => {
  if (kinds.length === 0) return;
  warn(`tocsin: no daemon sends ${kinds.join(', ')} at present; the queued alerts wait for one\n`);
};

/** Says, once each, which destinations have to be approved first. */
export const warnOfHeld = ({ warn }: CommandContext): ((destination: Destination) => void) => {
  const said = new Set<string>();
  return ({ id, kind, label }) => {
    if (said.has(id)) return;
    said.add(id);
    warn(
      `tocsin: ${kind} ${cleanLine(label)} is not approved; its alerts are held until: tocsin destinations approve ${id}\n`,
    );
  };
};

const addUp = (one: Retried, two: Retried): Retried => ({
  sent: one.sent + two.sent,
  held: one.held + two.held,
  waiting: one.waiting + two.waiting,
  delivered: one.delivered + two.delivered,
  refused: [...one.refused, ...two.refused],
  kinds: [...one.kinds, ...two.kinds],
});

const retrySome = async (
  view: View,
  ids: readonly string[],
  { retry }: Pick<ReturnType<typeof openRetry>, 'retry'>,
  context: CommandContext,
): Promise<Retried> => {
  const progress = createProgress(context);
  let total: Retried = { sent: 0, held: 0, waiting: 0, delivered: 0, refused: [], kinds: [] };
  try {
    for await (const letters of readLetters(view.store.dead, ids)) {
      total = addUp(total, await retry(letters));
      progress.show(`${resentText(total)}, of ${ids.length}`);
    }
    return total;
  } finally {
    progress.end();
  }
};

export const retryDead: Action<SelectionOptions> = (options, context) =>
  withView(options, context, async (view, config) => {
    const ids = await findSome(view, options);
    const again = openRetry({ config, ...view, onHeld: warnOfHeld(context) });
    const { kinds, ...result } = await retrySome(view, ids, again, context);
    await view.store.operatorLog.record({ action: 'dead-retried', ...result, refused: result.refused.length });
    answer(context, options, result, () => `${resentText(result)}\n`);
    for (const { id, problem } of result.refused) context.warn(`tocsin: ${id} stays dead: ${problem}\n`);
    warnOfIdle(await again.idleKinds(new Set(kinds)), context);
    return result.refused.length === 0 ? EXIT.done : EXIT.mistake;
  });

export const dropDead: Action<SelectionOptions & { yes?: boolean }> = (options, context) =>
  withView(options, context, async (view) => {
    const ids = await findSome(view, options);
    await confirm(context, `drops ${countText(ids.length)}, which will not be sent any more`, options.yes);
    const drop = createDrop(view.store);
    let dropped = 0;
    for await (const letters of readLetters(view.store.dead, ids)) dropped += await drop(letters);
    await view.store.operatorLog.record({ action: 'dead-dropped', dropped });
    const waiting = ids.length - dropped;
    const kept = waiting === 0 ? '' : `, ${waiting} kept because they are being sent again`;
    return answer(context, options, { dropped, waiting }, () => `${dropped} dropped${kept}\n`);
  });
