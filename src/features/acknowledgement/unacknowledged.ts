/** Which alerts people can acknowledge where they have arrived, and how many criticals nobody has acknowledged yet. */
import { isChannelKind } from '../../alert.ts';
import { kindFacts } from '../../channels/registry.ts';
import type { Config } from '../../config/schema.ts';
import { destinationId } from '../../item.ts';
import type { AlertOutline, Outlines } from '../../ledger/index-by-date.ts';
import type { DeliveryRecord, Target } from '../../ledger/record.ts';
import type { StatusReport } from '../../ops/status.ts';
import { DAY_MS } from '../../time.ts';
import { type AcknowledgementStore, WORKS_FOR_MS } from './store.ts';
import { mayAcknowledge } from './words.ts';

type Settings = Pick<Config, 'alerts' | 'channels' | 'ops'>;

/** Whether its messages have a button or a link. An incoming webhook has none: its label is not its address, as its id shows. */
const hasWay = ({ alerts, channels, ops }: Settings, { id, kind, label }: Target): boolean => {
  if (!alerts.acknowledge || !isChannelKind(kind)) return false;
  const [section, by] = [channels[kind], kindFacts(kind).acknowledgedBy];
  if (section === undefined || by === undefined) return false;
  if (by.way === 'link') return ops.publicUrl !== undefined;
  return (by.key === undefined || Reflect.get(section, by.key) !== undefined) && destinationId(kind, label) === id;
};

/** Whether a message that has arrived has a button or a link by which somebody may acknowledge now. */
export type MayBePressed = (one: DeliveryRecord) => boolean;

export const createMayBePressed =
  (config: Settings, now: number): MayBePressed =>
  ({ state, at, attempts, with: other, destination }) =>
    state === 'delivered' &&
    other === undefined &&
    attempts.at(-1)?.replay !== true &&
    Date.parse(at) > now - WORKS_FOR_MS &&
    hasWay(config, destination);

/** Somebody can acknowledge it. */
export const isOpen = ({ alert, deliveries }: Pick<AlertOutline, 'alert' | 'deliveries'>, may: MayBePressed): boolean =>
  mayAcknowledge({ ...alert, replay: false }) && deliveries.some(may);

/** Of the last day so many alerts are looked at, and of each so many deliveries, those in trouble first. */
const MOST = { alerts: 1000, deliveries: 5 };

export interface UnacknowledgedDependencies {
  config: Settings;
  outlines: Pick<Outlines, 'own'>;
  acknowledgements: Pick<AcknowledgementStore, 'acknowledged'>;
  now(): number;
}

/** Undefined where the config has acknowledgement off: then nothing is asked of Redis for it. */
export const createUnacknowledged =
  ({ config, outlines, acknowledgements, now }: UnacknowledgedDependencies) =>
  async (): Promise<StatusReport['unacknowledged']> => {
    if (!config.alerts.acknowledge) return undefined;
    const latest = await outlines.own(MOST.alerts, MOST.deliveries, now() - DAY_MS);
    const mayBePressed = createMayBePressed(config, now());
    const open = latest.filter((one) => one.alert.type === 'inspection.critical' && isOpen(one, mayBePressed));
    const known = await acknowledgements.acknowledged(open.map(({ alert }) => alert.id));
    const left = open.filter(({ alert }) => !known.has(alert.id));
    const since = left.at(-1)?.alert.at;
    return { count: left.length, ...(since && { since }), ...(latest.length >= MOST.alerts && { isAtLeast: true }) };
  };
