/** Alerts into messages, each when its time comes; those that cannot be composed follow more plainly. */
import type { Alert, Destination, Parcel } from '../alert.ts';
import { FORMATS, type Format, type Message, type Storm } from '../channels/channel.ts';
import { chunksOf, inSlices } from '../chunks.ts';
import type { ParcelJob } from '../queue/job.ts';
import type { Compose, DeliverDependencies, JobRun, JobStage, MessageRun, Unit, WithButtons } from './stage.ts';

/** Only the fallback's deliveries say why they are made. */
const isEscalated = ({ notice }: Alert): boolean => notice !== undefined;

/** Those of `alerts` that still go to `destination`. One question to Redis, only where some are escalated. */
const notAcknowledged = async (
  destination: Destination,
  alerts: readonly Alert[],
  { unacknowledged }: DeliverDependencies,
): Promise<readonly Alert[]> => {
  const escalated = alerts.filter(isEscalated);
  if (unacknowledged === undefined || escalated.length === 0) return alerts;
  const left = new Set(await unacknowledged(destination, escalated));
  return alerts.filter((alert) => !isEscalated(alert) || left.has(alert));
};

/**
 * What is on its way to the fallback ends where somebody has acknowledged it meanwhile. Asked before each run, as a message
 * may have to wait, or be tried again; `compose` asks between messages.
 */
export const acknowledged: JobStage = async (run, dependencies) => {
  run.alerts = await notAcknowledged(run.job.destination, run.alerts, dependencies);
  return undefined;
};

/** A job has one format: the plainest of what is left in it. So no refused body is sent again after a wait. */
const withFormat = (job: ParcelJob, unit: Unit, others: readonly Unit[]): ParcelJob => {
  const plainest = Math.max(...[unit, ...others].map(({ format }) => FORMATS.indexOf(format)));
  const format = FORMATS[plainest] ?? 'minimal';
  return format === job.format ? job : { ...job, format };
};

export const plainer = (format: Format): Format | undefined => FORMATS[FORMATS.indexOf(format) + 1];

/** Only what may become a digest asks; a single message costs nothing. */
const stormOf = async (
  { above, soFar }: NonNullable<DeliverDependencies['storms']>,
  destination: Destination,
  alerts: readonly Alert[],
): Promise<Storm | undefined> => {
  const composed = alerts.filter(({ replay }) => !replay);
  if (composed.length <= above) return undefined;
  // Without it the digest says less; that must not hold it up.
  const before = await soFar(destination).catch(() => undefined);
  return before && { message: before.messages + 1, alerts: before.alerts + composed.length };
};

/**
 * The messages of a unit. An alert that cannot be composed is our own fault and must not take its neighbours along: the
 * unit is split, and each alert is composed by itself after the others, in a plainer format if it was alone already. For
 * what is left then, see `giveUp`.
 */
const messagesOf = async (
  { compose, storms, sentInspections: sentInspectionsOf, pauses }: DeliverDependencies,
  run: JobRun,
  { alerts, format }: Unit,
  at: number,
): Promise<Message[]> => {
  const { job, units, uncomposable } = run;
  if (alerts.length === 0) return [];
  const storm = storms && (await stormOf(storms, job.destination, alerts));
  const sentInspections = await sentInspectionsOf?.(job.destination, alerts);
  const more = { ...(storm && { storm }), ...(sentInspections && { sentInspections }) };
  try {
    return await inSlices(compose({ destination: job.destination, alerts: [...alerts] }, format, at, more), pauses);
  } catch (error) {
    const next = alerts.length > 1 ? format : plainer(format);
    if (next === undefined) uncomposable.push({ alerts, error });
    else units.push(...alerts.map((alert) => ({ alerts: [alert], format: next })));
    return [];
  }
};

/**
 * The messages before one may have taken long: what somebody has acknowledged meanwhile is not sent, and a message that has
 * other alerts, too, is composed again of these. The stage `acknowledged` has just asked for the first one.
 */
async function* composeEach(
  run: JobRun,
  dependencies: DeliverDependencies,
  composedAt: number,
): AsyncGenerator<MessageRun, void> {
  let isFirst = true;
  for (let unit = run.units.shift(); unit; unit = run.units.shift()) {
    for (const message of await messagesOf(dependencies, run, unit, composedAt)) {
      const { destination, alerts } = message;
      const left = isFirst ? alerts : await notAcknowledged(destination, alerts, dependencies);
      isFirst = false;
      if (left.length < alerts.length) run.units.push({ alerts: left, format: unit.format });
      else yield { run, unit, message, composedAt, job: withFormat(run.job, unit, run.units) };
    }
  }
}

/** Turns alerts into messages; those that cannot be composed follow more plainly. */
export const compose: JobStage = (run, dependencies) => {
  const { format, most, progress } = run.job;
  run.units = chunksOf(run.alerts, most ?? run.alerts.length).map((alerts) => ({ alerts, format }));
  // Parts of one message are of one composition.
  run.messages = composeEach(run, dependencies, progress?.at ?? dependencies.now());
  return undefined;
};

/** Of a kind without buttons, and where the config has acknowledging off. */
export const withoutButtons: WithButtons = async (message) => ({ message, sent: async () => {} });

/** Composes again what was sent before; undefined where that is not one message any more, or cannot be composed. */
export const composeAgain = async (
  { compose: composeParcel, now }: DeliverDependencies,
  parcel: Parcel,
  format: Format,
  at = now(),
  more?: Parameters<Compose>[3],
): Promise<Message | undefined> => {
  try {
    const [only, ...others] = await inSlices(composeParcel(parcel, format, at, more));
    return others.length === 0 ? only : undefined;
  } catch {
    return undefined;
  }
};
