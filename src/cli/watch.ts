/** `tocsin watch`: what happens now, of all daemons that share the Redis. */

import { setTimeout as sleep } from 'node:timers/promises';
import { conditionText } from '../condition.ts';
import { actionText } from '../features/status/operator-log.ts';
import { type AlertEvent, createWatch, MOST_NEW } from '../features/watch/watch.ts';
import type { RecordedAction } from '../ledger/operator-log.ts';
import { nameOf } from '../ledger/record.ts';
import { cleanLine, counted, shorten, shortenMiddle } from '../text.ts';
import { clock, iso } from '../time.ts';
import { type Action, EXIT } from './context.ts';
import { durationOf } from './options.ts';
import { type View, withView } from './with-view.ts';

type WatchEvent =
  | AlertEvent
  | { at: string; event: 'trouble' | 'over'; text: string }
  | { at: string; event: 'operator'; action: RecordedAction }
  | { at: string; event: 'watch'; text: string };

const MOST_NAMED = 3;

const subjectOf = ({ alert: { protocol, txHash, itemId } }: AlertEvent): string => {
  const subject = txHash === undefined ? itemId : shortenMiddle(txHash, { head: 10, tail: 6 });
  return `${shorten(cleanLine(protocol), 40)} ${cleanLine(subject)}`;
};

const destinationsText = (event: Extract<AlertEvent, { event: 'alert' }>): string => {
  const names = event.destinations.map(nameOf);
  if (names.length === 0) return 'to nobody';
  if (names.length <= MOST_NAMED) return `to ${names.join(', ')}`;
  return `to ${counted(names.length, 'destination')}`;
};

const alertText = (event: AlertEvent): string => {
  const subject = subjectOf(event);
  switch (event.event) {
    case 'alert':
      return `${subject}: ${event.alert.type}, ${destinationsText(event)}`;
    case 'delivered':
      return `${subject}: ${nameOf(event.to)}${event.replay === true ? ', as a replay' : ''}, ${event.durationMs} ms`;
    case 'muted':
      return `${subject}: ${nameOf(event.to)}${event.by === undefined ? '' : `, by ${event.by}`}`;
    case 'covered':
      return `${subject}: ${nameOf(event.to)}, an inspection's alert covers it`;
    default:
      return `${subject}: ${nameOf(event.to)}: ${event.message ?? event.reason ?? 'no destination'}`;
  }
};

const textOf = (event: WatchEvent): string => {
  if ('alert' in event) return alertText(event);
  if (event.event !== 'operator') return event.text;
  const { action, at: _at, ...facts } = event.action;
  const values = Object.entries(facts).map(([name, value]) => `${name} ${value}`);
  return [actionText({ action }), ...values].join(', ');
};

/** Without a line feed. */
const eventLine = (event: WatchEvent): string =>
  `${clock(event.at).slice(11)}  ${event.event.padEnd(9)}  ${cleanLine(textOf(event))}`;

const LOOK_EVERY_MS = 1000;
/** A whole status is read for them. */
const TROUBLES_EVERY_MS = 5000;

const event = (name: 'trouble' | 'over' | 'watch', text: string): WatchEvent => ({
  at: iso(Date.now()),
  event: name,
  text,
});

/** Gives the troubles that are new, and those that are over, each once. */
const createTroubles = ({ status }: View) => {
  let known = new Map<string, string>();
  let nextAt = 0;
  return async (): Promise<WatchEvent[]> => {
    if (performance.now() < nextAt) return [];
    nextAt = performance.now() + TROUBLES_EVERY_MS;
    const { troubles } = await status();
    const now = new Map(troubles.map((one) => [`${one.name} ${one.of}`, `${conditionText(one)}; ${one.todo}`]));
    const begun = [...now].filter(([key]) => !known.has(key)).map(([, text]) => event('trouble', text));
    const over = [...known].filter(([key]) => !now.has(key)).map(([, text]) => event('over', text));
    known = now;
    return [...begun, ...over];
  };
};

/** Gives what operators have done since it was last called. */
const createActions = ({ store: { operatorLog } }: View) => {
  let position: string | undefined;
  return async (): Promise<WatchEvent[]> => {
    if (position === undefined) {
      position = await operatorLog.end();
      return [];
    }
    const { actions, position: next } = await operatorLog.after(position);
    position = next;
    return actions.map((action) => ({ at: action.at, event: 'operator', action }));
  };
};

/** Gives what has happened to alerts, and says it where some are not shown. */
const createAlerts = ({ store }: View, protocol: string | undefined) => {
  const look = createWatch(store);
  return async (): Promise<WatchEvent[]> => {
    const { events, isCut } = await look();
    const wanted = events.filter(({ alert }) => protocol === undefined || alert.protocol === protocol);
    const more = `more than ${MOST_NEW} alerts came at once; not all of them are shown`;
    return isCut ? [...wanted, event('watch', more)] : wanted;
  };
};

/** Says once that Redis is away, and once that it is back. */
const createPatience = (read: () => Promise<WatchEvent[]>) => {
  let isAway = false;
  return async (signal: AbortSignal): Promise<WatchEvent[]> => {
    try {
      const late = sleep(TROUBLES_EVERY_MS, undefined, { signal, ref: false }).then(() => {
        throw new Error('no answer');
      });
      const events = await Promise.race([read(), late]);
      if (!isAway) return events;
      isAway = false;
      return [event('over', 'Redis answers again'), ...events];
    } catch {
      if (isAway || signal.aborted) return [];
      isAway = true;
      return [event('trouble', 'Redis does not answer; the daemons may be affected, too')];
    }
  };
};

export const watch: Action<{ protocol?: string; for?: string }> = async (options, context) => {
  const durationMs = options.for === undefined ? Number.POSITIVE_INFINITY : durationOf(options.for, '--for', '30s');
  const endAt = performance.now() + durationMs;
  return withView(options, context, async (view) => {
    const { signal } = context;
    const looks = [createTroubles(view), createAlerts(view, options.protocol), createActions(view)];
    const read = createPatience(async () => (await Promise.all(looks.map((look) => look()))).flat());
    const print = (one: WatchEvent): void =>
      options.json === true ? context.write(`${JSON.stringify(one)}\n`) : context.show(`${eventLine(one)}\n`);
    const { daemons } = await view.status();
    const running = counted(daemons.filter(({ isRunning }) => isRunning).length, 'daemon');
    print(event('watch', `${running} running; times are UTC; Ctrl-C ends this`));
    while (!signal.aborted && performance.now() < endAt) {
      for (const one of await read(signal)) print(one);
      await sleep(LOOK_EVERY_MS, undefined, { signal }).catch(() => {});
    }
    return EXIT.done;
  });
};
