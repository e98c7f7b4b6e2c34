/** Where a message stands, and how a handle tells it. */

export interface Place {
  /** The channel's id, also where it is addressed by name. */
  channel: string;
  ts: string;
  /** Of the first message in its thread: its own `ts`, unless it is a reply. Slack takes no reply to a reply. */
  thread: string;
}

const HANDLE = /^([A-Z0-9]+)\/(\d+\.\d+)(?:\/(\d+\.\d+))?$/;

/** `CHANNEL/TS`, of a reply `CHANNEL/TS/THREAD`. */
export const formatPlace = ({ channel, ts, thread }: Place): string =>
  [channel, ts, ...(thread === ts ? [] : [thread])].join('/');

/** Undefined for what is no handle of ours. */
export const parsePlace = (handle: string): Place | undefined => {
  const [, channel, ts, thread = ts] = HANDLE.exec(handle) ?? [];
  return channel === undefined || ts === undefined || thread === undefined ? undefined : { channel, ts, thread };
};
