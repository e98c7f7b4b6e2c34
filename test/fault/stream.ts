/** A steady stream of alerts at the service, over the protocols in turn; every fifth is a stored notification. */
import type { Sandbox } from '../../src/sandbox/sandbox.ts';

export interface Stream {
  start(): void;
  stop(): void;
  /** One critical of every protocol, now. */
  round(): void;
}

const NOTIFICATION_EVERY = 5;

export const startStream = ({ service }: Sandbox, names: readonly string[], perSecond: number): Stream => {
  let timer: NodeJS.Timeout | undefined;
  let count = 0;
  const write = (): void => {
    const protocol = names[count % names.length] ?? '';
    count += 1;
    if (count % NOTIFICATION_EVERY === 0)
      service.insertNotification({ protocol, message: `Notice number-${count}-end.` });
    else service.insertInspection({ protocol, assessment: 'critical' });
  };
  const stop = (): void => clearInterval(timer);
  return {
    start: () => {
      stop();
      timer = setInterval(write, 1000 / perSecond);
    },
    stop,
    round: () => {
      for (const protocol of names) service.insertInspection({ protocol, assessment: 'critical' });
    },
  };
};
