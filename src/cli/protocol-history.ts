/** `tocsin protocols history`: which changes of a protocol's settings the daemons have seen. Asks no service. */
import { didYouMean } from '../config/problems.ts';
import { UsageError } from '../errors.ts';
import type { Difference } from '../features/tripwire/message.ts';
import { HISTORY_BOUNDS, type SeenChange } from '../features/tripwire/store.ts';
import { cleanLine, counted } from '../text.ts';
import { clockText } from '../time.ts';
import { type Action, answer } from './context.ts';
import { oneOf } from './options.ts';
import { type View, withView } from './with-view.ts';

interface ServiceHistory {
  service: string;
  /** ISO 8601: since when changes are seen; absent where no listing was looked at yet. */
  since?: string;
  changes: SeenChange[];
  isCut: boolean;
}

/** Every name that changes may have been seen of: the listed ones, and those that are gone. */
const namesOf = async ({ catalog, store }: View, service: string): Promise<ReadonlySet<string>> => {
  const listed = [...(await catalog.protocols(service)).keys()];
  const others = (await catalog.unwatched(service)).map(({ name }) => name);
  return new Set([...listed, ...others, ...(await store.tripwire.changed(service))]);
};

const historiesOf = async (view: View, services: readonly string[], name: string): Promise<ServiceHistory[]> => {
  const known = new Map<string, ReadonlySet<string>>();
  for (const service of services) known.set(service, await namesOf(view, service));
  const fitting = services.filter((service) => known.get(service)?.has(name));
  if (fitting.length === 0) {
    const names = [...known.values()].flatMap((each) => [...each]);
    const hint = cleanLine(didYouMean(name, names));
    throw new UsageError(`${services.join(', ')}: no protocol '${cleanLine(name)}' is known${hint}`);
  }
  const { tripwire } = view.store;
  return Promise.all(
    fitting.map(async (service) => {
      const since = await tripwire.since(service);
      return { service, ...(since === undefined ? {} : { since }), ...(await tripwire.history(service, name)) };
    }),
  );
};

const sideText = (sign: string, rows: readonly string[], others: ReadonlySet<string>): string[] =>
  rows.map((row) => `    ${others.has(row) ? '=' : sign} ${row}`);

/** Rows that were removed (`-`), stayed (`=`) or were added (`+`). */
const differenceLines = ({ aspect, old, now }: Difference): string[] => {
  const [before, after] = [new Set(old), new Set(now)];
  const added = now.filter((row) => !before.has(row));
  return [`  ${aspect}`, ...sideText('-', old, after), ...sideText('+', added, before)];
};

const changeLines = ({ at, kind, isCritical, differences }: SeenChange): string[] => [
  `${clockText(at)}  ${kind}${isCritical ? ', critical: no channel of a person was left' : ''}`,
  ...differences.flatMap(differenceLines),
];

const cutText = `Only the newest ${HISTORY_BOUNDS.changes} changes of ${HISTORY_BOUNDS.days} days are kept, and fewer where many protocols change; there were more.`;

const historyText = (name: string, { service, since, changes, isCut }: ServiceHistory): string => {
  const watched = since === undefined ? 'No daemon has looked at it yet.' : `Watched since ${clockText(since)}.`;
  const head = `${cleanLine(name)} at ${service}: ${counted(changes.length, 'change')}. ${watched}`;
  return [head, ...changes.flatMap(changeLines), ...(isCut ? [cutText] : [])].map((line) => `${line}\n`).join('');
};

export const protocolHistory: Action<{ name: string; service?: string }> = (options, context) =>
  withView(options, context, async (view, config) => {
    const { name, service } = options;
    const all = config.services.map((one) => one.name);
    const services = service === undefined ? all : [oneOf('--service', service, all)];
    const histories = await historiesOf(view, services, name);
    return answer(context, options, { protocol: name, services: histories }, () =>
      histories.map((history) => historyText(name, history)).join(''),
    );
  });
