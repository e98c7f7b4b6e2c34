/**
 * Tells open pages, by server-sent events, when to ask for themselves again. All viewers share one timer, which runs only
 * while somebody looks; what they then ask for is made once for all of them.
 */
import type { ServerResponse } from 'node:http';

export interface LiveSettings {
  /** Default 5000. */
  everyMs?: number;
  /** Open at once; others ask at their own pace. Each keeps a connection, and probes need some. Default 30. */
  mostViewers?: number;
}

/** How long a browser waits before it connects anew. */
const RETRY_MS = 3000;
/** A viewer who reads nothing is let go once so much waits for him. */
const MOST_WAITING_BYTES = 4096;

export interface Live {
  /** Takes over the response. False: there are too many viewers. */
  join(response: ServerResponse): boolean;
  /** Ends all streams, and lets nobody join any more. */
  stop(): void;
}

export const createLive = ({ everyMs = 5000, mostViewers = 30 }: LiveSettings = {}): Live => {
  const viewers = new Set<ServerResponse>();
  let timer: NodeJS.Timeout | undefined;
  let count = 0;
  let isStopped = false;

  const leave = (viewer: ServerResponse): void => {
    viewers.delete(viewer);
    if (viewers.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };

  const tick = (): void => {
    count += 1;
    for (const viewer of viewers) {
      if (viewer.writableLength > MOST_WAITING_BYTES) viewer.destroy();
      else viewer.write(`data: ${count}\n\n`);
    }
  };

  return {
    join: (response) => {
      if (isStopped || viewers.size >= mostViewers) return false;
      viewers.add(response);
      response.once('close', () => leave(response));
      response.writeHead(200, {
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        // A proxy must not keep them until there are more.
        'x-accel-buffering': 'no',
      });
      response.write(`retry: ${RETRY_MS}\n\n`);
      timer ??= setInterval(tick, everyMs).unref();
      return true;
    },
    stop: () => {
      isStopped = true;
      for (const viewer of viewers) viewer.end();
    },
  };
};
