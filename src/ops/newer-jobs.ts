/** Jobs of a version that this daemon does not know: another daemon wrote them, and they wait for one that does. */
import type { Health } from './health.ts';

export interface NewerJobsDependencies {
  health: Pick<Health, 'fail' | 'forget'>;
  log: { error(fields: object, message: string): void };
  /** Default `GONE_AFTER_MS`. */
  goneAfterMs?: number;
  /** Epoch milliseconds. */
  now(): number;
}

const CHECK = 'jobs';
/** They come up every few seconds while there are any; after this long without one they are gone. */
export const GONE_AFTER_MS = 60_000;

export const createNewerJobs = ({ health, log, goneAfterMs = GONE_AFTER_MS, now }: NewerJobsDependencies) => {
  const said = new Set<string>();
  let metAt: number | undefined;
  return {
    /** A daemon that leaves jobs alone must not look ready: a rollout has to stop and wait for somebody. */
    met: (queue: string, version: string): void => {
      metAt = now();
      const why = `jobs of version ${version} wait in ${queue}: this daemon cannot read them, so a newer one has to send them`;
      health.fail(CHECK, why);
      if (said.has(`${queue} ${version}`)) return;
      said.add(`${queue} ${version}`);
      log.error({ queue, version }, 'jobs of a version that this daemon does not know are left alone; upgrade it');
    },
    /** Now and then: ready again where no such job has come up lately. */
    settle: (): void => {
      if (metAt === undefined || now() - metAt < goneAfterMs) return;
      metAt = undefined;
      said.clear();
      health.forget(CHECK);
    },
  };
};

export type NewerJobs = ReturnType<typeof createNewerJobs>;
