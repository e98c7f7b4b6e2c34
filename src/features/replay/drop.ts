/** Gives up dead deliveries, so that nobody is asked about them any more. */
import type { Corrections } from '../../ledger/corrections.ts';
import type { DeadDelivery, DeadLetters } from '../../ledger/dead-letters.ts';
import { NO_DESTINATION } from '../../ledger/record.ts';

export interface DropDependencies {
  corrections: Pick<Corrections, 'drop'>;
  dead: Pick<DeadLetters, 'remove'>;
}

/** Gives how many are gone; those that are on their way meanwhile stay. */
export const createDrop =
  ({ corrections, dead }: DropDependencies) =>
  async (letters: readonly DeadDelivery[]): Promise<number> => {
    const dropped: DeadDelivery[] = [];
    for (const together of Map.groupBy(letters, ({ destination }) => destination?.id).values()) {
      const [first] = together;
      const alerts = together.map(({ alert }) => alert);
      const found = await corrections.drop(first?.destination ?? NO_DESTINATION, alerts);
      dropped.push(...together.filter((_, index) => found[index] !== 'waiting'));
    }
    await dead.remove(dropped);
    return dropped.length;
  };
