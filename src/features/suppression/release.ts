/** Ends suppression: reports mutes that are over, and sends what was held for destinations that are approved by now. */
import type { Logger } from 'pino';

export interface ReleaseDependencies {
  expireMutes(): Promise<void>;
  releaseApproved(): Promise<void>;
  log: Pick<Logger, 'error'>;
}

/** Neither stops the other. Never throws: it is called again in a few seconds. */
export const createRelease =
  ({ expireMutes, releaseApproved, log }: ReleaseDependencies) =>
  async (): Promise<void> => {
    const logAs = (what: string) => (error: unknown) => log.error({ err: error }, `${what} failed; trying again`);
    await expireMutes().catch(logAs('ending mutes'));
    await releaseApproved().catch(logAs('sending held alerts'));
  };
