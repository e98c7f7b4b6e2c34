/** Ends suppression: reports mutes that are over, and sends what was held for destinations that are approved by now. */
import type { Logger } from 'pino';

export interface ReleaseDependencies {
  expireMutes(): Promise<void>;
  releaseApproved(): Promise<void>;
  log: Pick<Logger, 'error'>;
}

/** Never throws: it is called again in a few seconds. */
export const createRelease =
  ({ expireMutes, releaseApproved, log }: ReleaseDependencies) =>
  async (): Promise<void> => {
    try {
      await expireMutes();
      await releaseApproved();
    } catch (error) {
      log.error({ err: error }, 'ending mutes or sending held alerts failed; trying again');
    }
  };
