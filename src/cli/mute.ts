/** `tocsin mute`: mutes (silences), each with a reason and an end. */
import { type Mute, muteFacts, scopeText } from '../alert.ts';
import { openDestinations } from '../app/approval.ts';
import type { Config } from '../config/schema.ts';
import { UsageError } from '../errors.ts';
import { createActiveMutes } from '../features/mutes/active.ts';
import { lengthOf, newMute, type WantedMute } from '../features/mutes/new-mute.ts';
import { endOf, type StoredMute } from '../features/mutes/store.ts';
import { createGlobs } from '../globs.ts';
import { formatDuration } from '../schema/fields.ts';
import { clockText, iso } from '../time.ts';
import { type Action, answer, type CommonOptions, EXIT } from './context.ts';
import { authorOf, optionOf } from './options.ts';
import { type Column, renderTable } from './table.ts';
import { type View, withView } from './with-view.ts';

interface AddOptions extends CommonOptions, Omit<WantedMute, 'names' | 'author'> {
  author?: string;
}

const openMuting = ({ store }: View, config: Config) =>
  createActiveMutes({ config, mutes: store.mutes, now: Date.now });

/** What fits nothing that is known hides nothing, and is probably a slip. */
const doubtsOf = async ({ protocols, destinations }: Mute, view: View, config: Config): Promise<string[]> => {
  const names = (await Promise.all(config.services.map(({ name }) => view.catalog.protocols(name)))).flatMap((all) => [
    ...all.keys(),
  ]);
  const known = await openDestinations({ config, ...view }, view.review).list();
  const isProtocol = createGlobs(protocols);
  const isKnown = (name: string): boolean => known.some(({ id, label }) => id === name || label === name);
  return [
    ...(protocols.length === 0 || names.some(isProtocol) ? [] : [`no protocol is known that fits '${protocols}'`]),
    ...destinations.filter((name) => !isKnown(name)).map((name) => `no destination is known by '${name}'`),
  ];
};

export const addMute: Action<AddOptions> = async (options, context) => {
  lengthOf(options.for, optionOf);
  return withView(options, context, async (view, config) => {
    const mute = newMute({ ...options, author: authorOf(options) }, config.mutes, Date.now(), optionOf);
    await view.store.mutes.add(mute);
    await view.store.operatorLog.record({ action: 'mute-begun', ...muteFacts(mute) });
    answer(context, options, mute, () => `${mute.id}: ${scopeText(mute)}; until ${clockText(mute.until)}\n`);
    for (const doubt of await doubtsOf(mute, view, config)) context.warn(`tocsin: ${doubt}, so far\n`);
    return EXIT.done;
  });
};

type Shown = StoredMute & { isActive: boolean };

const stateOf = ({ isActive, hid, ...mute }: Shown): string => {
  const at = clockText(iso(endOf({ hid, ...mute })));
  if (isActive) return `until ${at}`;
  return mute.endedAt === undefined ? `ended ${at}` : `ended ${at}, by hand`;
};

const COLUMNS: readonly Column<Shown>[] = [
  { head: 'mute', cell: ({ id }) => id },
  { head: 'end', cell: stateOf },
  { head: 'by', shrinks: true, cell: ({ author }) => author },
  { head: 'hides', isNumber: true, cell: ({ hid }) => hid },
  { head: 'what', shrinks: true, cell: (mute) => scopeText(mute) },
];

export const listMutes: Action<{ all?: boolean }> = (options, context) =>
  withView(options, context, async (view, config) => {
    const { active, over, past } = await openMuting(view, config).states();
    const ended = options.all === true ? [...over, ...past] : [];
    const shown: Shown[] = [
      ...active.map((mute) => ({ ...mute, isActive: true })),
      ...ended.map((mute) => ({ ...mute, isActive: false })),
    ].sort((a, b) => endOf(a) - endOf(b));
    const layout = { ...context, below: ({ reason }: Shown) => [reason] };
    const text = () => (shown.length === 0 ? 'nothing is muted\n' : renderTable(shown, COLUMNS, layout));
    return answer(context, options, shown, text, context.show);
  });

/** Throws a `UsageError` where no such mute holds. */
const activeMute = async (id: string, view: View, config: Config): Promise<StoredMute> => {
  const { active } = await openMuting(view, config).refresh();
  const mute = active.find((one) => one.id === id);
  if (mute !== undefined) return mute;
  throw new UsageError(`no mute '${id}' holds; \`tocsin mute list\` shows those that do`);
};

/** From now on, so that a mute that is extended again and again is looked at again and again. */
const endWithin = (mute: StoredMute, lengthMs: number, { maxLength }: Config['mutes'], now: number): number => {
  const until = Date.parse(mute.until) + lengthMs;
  if (until - now <= maxLength) return until;
  const most = `${formatDuration(maxLength)} from now, as mutes.maxLength says`;
  throw new UsageError(`${mute.id} would last until ${clockText(iso(until))}: it may last at most ${most}`);
};

export const extendMute: Action<{ id: string; for: string; author?: string }> = async (options, context) => {
  const [extendedBy, lengthMs] = [authorOf(options), lengthOf(options.for, optionOf)];
  return withView(options, context, async (view, config) => {
    const mute = await activeMute(options.id, view, config);
    if (!mute.id.startsWith('mute-')) throw new UsageError(`${mute.id} is a window of the config: change it there`);
    const until = endWithin(mute, lengthMs, config.mutes, Date.now());
    if (!(await view.store.mutes.extend(mute.id, until))) {
      throw new UsageError(`${mute.id} has changed meanwhile: \`tocsin mute list\` shows it`);
    }
    const extended = { ...mute, until: iso(until) };
    await view.store.operatorLog.record({ action: 'mute-extended', ...muteFacts(extended), extendedBy });
    const text = () => `${mute.id}: until ${clockText(extended.until)}, before ${clockText(mute.until)}\n`;
    return answer(context, options, extended, text);
  });
};

export const endMute: Action<{ id: string }> = (options, context) =>
  withView(options, context, async (view, config) => {
    const mute = await activeMute(options.id, view, config);
    const at = Date.now();
    await view.store.mutes.end(mute.id, at);
    await view.store.operatorLog.record({ action: 'mute-ended', ...muteFacts(mute) });
    const rest = mute.hid === 0 ? 'it hid nothing' : `a daemon will report the alerts that it hid: ${mute.hid} so far`;
    return answer(context, options, { ...mute, endedAt: iso(at) }, () => `${mute.id}: ended; ${rest}\n`);
  });
