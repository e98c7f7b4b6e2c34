/** `tocsin trace`: where one item went, at every destination. */

import { UsageError } from '../errors.ts';
import { createTracer, messageIn } from '../features/trace/trace.ts';
import { RETENTION_SECONDS } from '../ledger/record.ts';
import { type CommandContext, type CommonOptions, EXIT, type ExitCode, writeJson } from './context.ts';
import { renderTraces } from './trace-text.ts';
import { withView } from './with-view.ts';

const DAYS_KEPT = RETENTION_SECONDS / 86_400;

const unknown = (name: string): UsageError =>
  new UsageError(
    messageIn(name) === undefined
      ? `nothing is known about '${name}': it was never forwarded, or more than ${DAYS_KEPT} days ago, which is as long as the ledger keeps alerts`
      : `'${name}' is the id of a message that is not found: it had several alerts, or the ledger, which keeps ${DAYS_KEPT} days, has forgotten it; trace also takes an inspection's id, a transaction hash or an alert's id`,
  );

export const trace = (options: CommonOptions & { id: string }, context: CommandContext): Promise<ExitCode> =>
  withView(options, context, async ({ store }, { services }) => {
    const names = services.map(({ name }) => name);
    const id = options.id.trim();
    const traces = await createTracer({ ...store, services: names })(id);
    if (traces.length === 0) throw unknown(id);
    if (options.json === true) writeJson(context, traces);
    else context.write(renderTraces(traces));
    return EXIT.done;
  });
