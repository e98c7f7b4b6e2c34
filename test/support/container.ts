/** What of a container matters here: processes of its own, under the host name of this machine. */
import { spawnSync } from 'node:child_process';

/** The program follows. */
export const CONTAINER = ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc', '--'] as const;

/** Undefined where they can be made. */
export const whyNoContainers = (): string | undefined => {
  const [program, ...args] = CONTAINER;
  return spawnSync(program, [...args, 'true']).status === 0 ? undefined : 'this user may not make a PID namespace';
};
