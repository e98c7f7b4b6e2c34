/** `tocsin destinations enable`: sends again to a destination that had said that it wants nothing more. */
import { openEnable } from '../app/retry.ts';
import { labelNow } from '../channels/address.ts';
import { UsageError } from '../errors.ts';
import { cleanLine } from '../text.ts';
import { type CommandContext, type CommonOptions, EXIT, type ExitCode, writeJson } from './context.ts';
import { withView } from './with-view.ts';

export interface EnableOptions extends CommonOptions {
  name: string;
}

export const enableDestination = ({ name, ...options }: EnableOptions, context: CommandContext): Promise<ExitCode> =>
  withView(options, context, async ({ store }) => {
    const named = (await store.disabled.list()).filter(
      ({ id, label }) => id === name || labelNow(label) === labelNow(name),
    );
    const [one, ...others] = named;
    if (one === undefined) throw new UsageError(`no destination of the name '${name}' is disabled`);
    if (others.length > 0) {
      throw new UsageError(`several destinations are called '${name}': ${named.map(({ id }) => id).join(', ')}`);
    }
    const { id, kind, label } = one;
    await openEnable(store)(id);
    await store.operatorLog.record({ action: 'destination-enabled', destination: id, to: label });
    if (options.json === true) writeJson(context, { id, kind, label });
    else {
      const hint = `tocsin dead retry --destination ${id}`;
      context.write(`${kind} ${cleanLine(label)}: enabled; to send what died there: ${hint}\n`);
    }
    return EXIT.done;
  });
