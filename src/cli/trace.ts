/** `tocsin trace`: where one item went, at every destination. */

import { UsageError } from '../errors.ts';
import { createHashFinder, shortHashOf } from '../features/trace/short-hash.ts';
import { createTracer, messageIn } from '../features/trace/trace.ts';
import { RETENTION_SECONDS } from '../ledger/record.ts';
import { cleanLine } from '../text.ts';
import { clockText } from '../time.ts';
import { type CommandContext, type CommonOptions, EXIT, type ExitCode, writeJson } from './context.ts';
import { renderTraces } from './trace-text.ts';
import { type View, withView } from './with-view.ts';

/** Of the transactions that a short hash may mean. */
const MOST_LISTED = 20;

const DAYS_KEPT = RETENTION_SECONDS / 86_400;

const TOO_SHORT = /^0x[0-9a-f]{0,5}(…|\.{2,3})?$/i;

const unknown = (name: string): UsageError =>
  new UsageError(
    TOO_SHORT.test(name)
      ? `'${name}' is too short to tell transactions apart: give six digits of the hash or more`
      : messageIn(name) === undefined
        ? `nothing is known about '${name}': it was never forwarded, or more than ${DAYS_KEPT} days ago, which is as long as the ledger keeps alerts`
        : `'${name}' is the id of a message that is not found: it had several alerts, or the ledger, which keeps ${DAYS_KEPT} days, has forgotten it; trace also takes an inspection's id, a transaction hash or an alert's id`,
  );

/** A short hash in full. Throws a `UsageError` that lists the candidates where it may mean several transactions. */
const inFull = async (name: string, { store }: View): Promise<string> => {
  const short = shortHashOf(name);
  if (short === undefined) return name;
  const found = await createHashFinder(store)(short);
  const [one, ...others] = found;
  if (one?.txHash === undefined) return name;
  if (others.length === 0) return one.txHash;
  const lines = found
    .slice(-MOST_LISTED)
    .map((alert) => `  ${alert.txHash}  ${clockText(alert.at)}  ${alert.protocol}`);
  throw new UsageError(`'${name}' may be any of ${found.length} transactions:\n${lines.map(cleanLine).join('\n')}`);
};

export const trace = (options: CommonOptions & { id: string }, context: CommandContext): Promise<ExitCode> =>
  withView(options, context, async (view, { services }) => {
    const { store } = view;
    const names = services.map(({ name }) => name);
    const id = await inFull(options.id.trim(), view);
    const traces = await createTracer({ ...store, services: names })(id);
    if (traces.length === 0) throw unknown(id);
    if (options.json === true) writeJson(context, traces);
    else context.show(renderTraces(traces));
    return EXIT.done;
  });
