/** Where a message is: its channel and timestamps, written as its handle. */

export interface Place {
  /** The channel's id, even if the destination is its name. */
  channel: string;
  ts: string;
  /** `ts` of the thread's first message: its own unless it is a reply. Slack takes no reply to a reply. */
  thread: string;
}

const HANDLE = /^([A-Z0-9]+)\/(\d+\.\d+)(?:\/(\d+\.\d+))?$/;

/** `CHANNEL/TS`, of a reply `CHANNEL/TS/THREAD`. */
export const formatPlace = ({ channel, ts, thread }: Place): string =>
  [channel, ts, ...(thread === ts ? [] : [thread])].join('/');

/** Undefined for anything but a handle of ours. */
export const parsePlace = (handle: string): Place | undefined => {
  const [, channel, ts, thread = ts] = HANDLE.exec(handle) ?? [];
  return channel === undefined || ts === undefined || thread === undefined ? undefined : { channel, ts, thread };
};
