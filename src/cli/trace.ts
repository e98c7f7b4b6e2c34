/** `tocsin trace`: where one item went, at every destination. */
import { RETENTION_SECONDS } from '../deliver/record.ts';
import { UsageError } from '../errors.ts';
import { createTracer } from '../wiring/trace.ts';
import { type CommandContext, type CommonOptions, EXIT, type ExitCode, writeJson } from './context.ts';
import { renderTraces } from './trace-text.ts';
import { withView } from './with-view.ts';

const DAYS_KEPT = RETENTION_SECONDS / 86_400;

const unknown = (name: string): UsageError =>
  new UsageError(
    `nothing is known of '${name}': it was never forwarded, or it was more than ${DAYS_KEPT} days ago, which is how long the books are kept`,
  );

export const trace = (options: CommonOptions & { id: string }, context: CommandContext): Promise<ExitCode> =>
  withView(options, context, async ({ store }, { services }) => {
    const names = services.map(({ name }) => name);
    const traces = await createTracer(store, names)(options.id.trim());
    if (traces.length === 0) throw unknown(options.id);
    if (options.json === true) writeJson(context, traces);
    else context.write(renderTraces(traces));
    return EXIT.done;
  });
