/** From alerts to messages, step by step plainer where a message cannot be composed or was refused. */
import type { Alert, Destination, Parcel } from '../alert.ts';
import { FORMATS, type Format, type Message } from '../channels/channel.ts';

/** `at`: when it is said to be sent, in epoch milliseconds. */
export type Compose = (parcel: Parcel, format: Format, at: number) => Message[];

/** Alerts still to be told, in one format. */
export interface Unit {
  alerts: readonly Alert[];
  format: Format;
  /** No format is left; it is tried once more after everything else. */
  hopeless?: boolean;
}

/** The alerts in parts of at most `most`, in their order; all in one where that is not given. */
export const partsOf = (alerts: readonly Alert[], most = alerts.length): Alert[][] => {
  const size = Math.max(1, Math.min(most, alerts.length));
  return Array.from({ length: Math.ceil(alerts.length / size) }, (_, index) =>
    alerts.slice(index * size, (index + 1) * size),
  );
};

/** A job has one format: the plainest of what is left in it, so that no refused body is sent again. */
export const plainest = (formats: readonly Format[]): Format =>
  FORMATS[Math.max(...formats.map((format) => FORMATS.indexOf(format)))] ?? 'minimal';

export const plainer = (format: Format): Format | undefined => FORMATS[FORMATS.indexOf(format) + 1];

/**
 * The messages of a unit. An alert that cannot be composed is our own fault: it must not take its neighbours along, so
 * the unit is split into `todo`, then told more plainly; one that not even the plainest format can tell is thrown, last
 * of all.
 */
export const createMessagesOf =
  (compose: Compose, destination: Destination, at: number, todo: Unit[]) =>
  ({ alerts, format, hopeless }: Unit): Message[] => {
    if (alerts.length === 0) return [];
    try {
      return compose({ destination, alerts: [...alerts] }, format, at);
    } catch (error) {
      if (hopeless) throw error;
      const next = alerts.length > 1 ? format : plainer(format);
      const rest = next === undefined ? { format, hopeless: true } : { format: next };
      todo.push(...alerts.map((alert) => ({ alerts: [alert], ...rest })));
      return [];
    }
  };
