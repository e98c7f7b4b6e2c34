/** Of which protocols nothing is inspected now, as it was announced; for `status` and for metrics. */
import type { BlindnessStore } from '../blindness/store.ts';

export interface CurrentSilence {
  service: string;
  protocols: readonly string[];
  /** ISO 8601. */
  since: string;
}

export const currentSilences = async (
  silent: Pick<BlindnessStore, 'list'>,
  services: readonly { name: string }[],
): Promise<CurrentSilence[]> => {
  const found = await Promise.all(
    services.map(async ({ name: service }) =>
      (await silent.list(service)).map(({ protocols, since }) => ({ service, protocols, since })),
    ),
  );
  return found.flat();
};
