/** Stage: turns alerts into messages, each when its time comes; those that cannot be composed follow more plainly. */
import type { Alert, Parcel } from '../alert.ts';
import { FORMATS, type Format, type Message } from '../channels/channel.ts';
import { inSlices, type Pauses, type Sliced } from '../slices.ts';
import type { JobRun, JobStage, MessageRun, Unit } from './stage.ts';

/** `at`: when it is said to be sent, in epoch milliseconds. */
export type Compose = (parcel: Parcel, format: Format, at: number) => Sliced<Message[]>;

export interface ComposeDependencies {
  compose: Compose;
  /** How composing lets others have their turn. Default: every few milliseconds. */
  pauses?: Pauses;
  now(): number;
}

/** The alerts in parts of at most `most`, in their order; all in one where that is not given. */
const partsOf = (alerts: readonly Alert[], most = alerts.length): Alert[][] => {
  const size = Math.max(1, Math.min(most, alerts.length));
  return Array.from({ length: Math.ceil(alerts.length / size) }, (_, index) =>
    alerts.slice(index * size, (index + 1) * size),
  );
};

/** A job has one format: the plainest of what is left in it. So no refused body is sent again after a wait. */
const plainest = (units: readonly Unit[]): Format =>
  FORMATS[Math.max(...units.map(({ format }) => FORMATS.indexOf(format)))] ?? 'minimal';

export const plainer = (format: Format): Format | undefined => FORMATS[FORMATS.indexOf(format) + 1];

/**
 * The messages of a unit. An alert that cannot be composed is our own fault and must not take its neighbours along: the
 * unit is split, and each alert is composed by itself after the others, in a plainer format if it was alone already. For
 * what is left then, see `give-up.ts`.
 */
const messagesOf = async (
  { compose, pauses }: ComposeDependencies,
  run: JobRun,
  { alerts, format }: Unit,
  at: number,
): Promise<Message[]> => {
  const { job, units, uncomposable } = run;
  if (alerts.length === 0) return [];
  try {
    return await inSlices(compose({ destination: job.destination, alerts: [...alerts] }, format, at), pauses);
  } catch (error) {
    const next = alerts.length > 1 ? format : plainer(format);
    if (next === undefined) uncomposable.push({ alerts, error });
    else units.push(...alerts.map((alert) => ({ alerts: [alert], format: next })));
    return [];
  }
};

async function* composeEach(
  run: JobRun,
  dependencies: ComposeDependencies,
  composedAt: number,
): AsyncGenerator<MessageRun, void> {
  for (let unit = run.units.shift(); unit; unit = run.units.shift()) {
    for (const message of await messagesOf(dependencies, run, unit, composedAt)) {
      yield { run, unit, message, composedAt, job: { ...run.job, format: plainest([unit, ...run.units]) } };
    }
  }
}

export const compose: JobStage<ComposeDependencies> = (run, dependencies) => {
  const { format, most, progress } = run.job;
  run.units = partsOf(run.alerts, most).map((alerts) => ({ alerts, format }));
  // Parts of one message are of one composition.
  run.messages = composeEach(run, dependencies, progress?.at ?? dependencies.now());
  return undefined;
};
