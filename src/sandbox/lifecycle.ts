/** Starting and stopping a server: either may be called at any time, and a restart gets the same port. */

export interface Opened {
  port: number;
  close(): Promise<void>;
}

export interface Lifecycle {
  /** Resolves with the port; does nothing but that while running. Throws what `open` throws. */
  start(): Promise<number>;
  stop(): Promise<void>;
}

/** `port` 0 is a free one, kept from then on. */
export const createLifecycle = (port: number, open: (port: number) => Promise<Opened>): Lifecycle => {
  let keptPort = port;
  let running: Promise<Opened> | undefined;
  return {
    start: async () => {
      running ??= open(keptPort);
      const attempt = running;
      try {
        const opened = await attempt;
        keptPort = opened.port;
        return keptPort;
      } catch (error) {
        if (running === attempt) running = undefined;
        throw error;
      }
    },
    stop: async () => {
      const stopping = running;
      running = undefined;
      const opened = await stopping?.catch(() => undefined);
      await opened?.close();
    },
  };
};
