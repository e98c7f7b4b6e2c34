/** `tocsin mute extend` and `mute end`: changes the end of a mute that holds. */
import type { Config } from '../config/schema.ts';
import { UsageError } from '../errors.ts';
import type { StoredMute } from '../features/mutes/store.ts';
import { muteFacts } from '../mute.ts';
import { formatDuration } from '../schema/fields.ts';
import { clockText, iso } from '../time.ts';
import { type CommandContext, type CommonOptions, EXIT, type ExitCode, writeJson } from './context.ts';
import { authorOf, lengthOf, openMuting } from './mute.ts';
import { type View, withView } from './with-view.ts';

/** Throws a `UsageError` where no such mute holds. */
const activeMute = async (id: string, view: View, config: Config): Promise<StoredMute> => {
  const { active } = await openMuting(view, config).refresh();
  const mute = active.find((one) => one.id === id);
  if (mute !== undefined) return mute;
  throw new UsageError(`no mute '${id}' holds; \`tocsin mute list\` shows those that do`);
};

interface ExtendOptions extends CommonOptions {
  id: string;
  for: string;
  author?: string;
}

/** From now on, so that a mute that is extended again and again is looked at again and again. */
const endWithin = (mute: StoredMute, lengthMs: number, { maxLength }: Config['mutes'], now: number): number => {
  const until = Date.parse(mute.until) + lengthMs;
  if (until - now <= maxLength) return until;
  const most = `${formatDuration(maxLength)} from now, as mutes.maxLength says`;
  throw new UsageError(`${mute.id} would last until ${clockText(iso(until))}: it may last at most ${most}`);
};

export const extendMute = async (options: ExtendOptions, context: CommandContext): Promise<ExitCode> => {
  const [extendedBy, lengthMs] = [authorOf(options), lengthOf(options.for)];
  return withView(options, context, async (view, config) => {
    const mute = await activeMute(options.id, view, config);
    if (!mute.id.startsWith('mute-')) throw new UsageError(`${mute.id} is a window of the config: change it there`);
    const until = endWithin(mute, lengthMs, config.mutes, Date.now());
    if (!(await view.store.mutes.extend(mute.id, until))) {
      throw new UsageError(`${mute.id} has changed meanwhile: \`tocsin mute list\` shows it`);
    }
    const extended = { ...mute, until: iso(until) };
    await view.store.operatorLog.record({ action: 'mute-extended', ...muteFacts(extended), extendedBy });
    if (options.json === true) writeJson(context, extended);
    else context.write(`${mute.id}: until ${clockText(extended.until)}, before ${clockText(mute.until)}\n`);
    return EXIT.done;
  });
};

export const endMute = (options: CommonOptions & { id: string }, context: CommandContext): Promise<ExitCode> =>
  withView(options, context, async (view, config) => {
    const mute = await activeMute(options.id, view, config);
    const at = Date.now();
    await view.store.mutes.end(mute.id, at);
    await view.store.operatorLog.record({ action: 'mute-ended', ...muteFacts(mute) });
    if (options.json === true) writeJson(context, { ...mute, endedAt: iso(at) });
    else {
      const rest =
        mute.hid === 0 ? 'it hid nothing' : `a daemon will report the alerts that it hid: ${mute.hid} so far`;
      context.write(`${mute.id}: ended; ${rest}\n`);
    }
    return EXIT.done;
  });
