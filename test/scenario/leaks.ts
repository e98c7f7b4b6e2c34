/** What a test left open in this process: sockets and servers that were not there before. */
import { until } from '../support/until.ts';

const WATCHED = ['TCPSocketWrap', 'TCPServerWrap', 'PipeWrap', 'PipeServerWrap'];

const countOpen = (): Map<string, number> => {
  const open = new Map<string, number>();
  for (const name of process.getActiveResourcesInfo()) {
    if (WATCHED.includes(name)) open.set(name, (open.get(name) ?? 0) + 1);
  }
  return open;
};

let worlds = 0;
let before = new Map<string, number>();

/**
 * Gives a check that everything opened since is closed, or soon will be; it throws with what is not. Of several worlds
 * at a time, the last to be closed answers for all.
 */
export const watchLeaks = (): (() => Promise<void>) => {
  if (worlds === 0) before = countOpen();
  worlds += 1;
  return async () => {
    worlds -= 1;
    if (worlds > 0) return;
    const leaked = (): string[] =>
      [...countOpen()]
        .filter(([name, count]) => count > (before.get(name) ?? 0))
        .map(([name, count]) => `${count - (before.get(name) ?? 0)} ${name}`);
    await until('closed sockets', () => leaked().length === 0, 5000).catch(() => {
      throw new Error(`left open: ${leaked().join(', ')}`);
    });
  };
};
