import { until } from './until.ts';

/**
 * Lets so much time pass that it shows: the service's clock is known to the second, so an item that is younger than that
 * when it is found proves nothing about where reading began.
 */
export const aWhileLater = async (): Promise<void> => {
  const at = Date.now();
  await until('two seconds are over', () => Date.now() > at + 2000);
};
