/** Which destinations and senders are broken now, for `status` and for metrics. */
import { CHANNEL_KINDS, type ChannelKind } from '../../alert.ts';
import { senderId } from '../../identity.ts';
import type { DestinationStatistics } from '../../ledger/destination-stats.ts';
import { nameOf } from '../../ledger/record.ts';
import type { OutageStore } from './store.ts';

export interface CurrentOutage {
  /** A destination's id, or `sender-KIND`. */
  id: string;
  kind: ChannelKind;
  /** In words. */
  name: string;
  /** ISO 8601. */
  since: string;
  /** The error that it gave, in a sentence without secrets. */
  message: string;
  /** What mends it, as part of a sentence, where that is known. */
  todo?: string;
}

export const currentOutages = async (
  outages: Pick<OutageStore, 'get'>,
  destinations: readonly (Pick<DestinationStatistics, 'id' | 'kind' | 'label'> & { name?: string })[],
): Promise<CurrentOutage[]> => {
  const subjects = [
    ...CHANNEL_KINDS.map((kind) => ({ id: senderId(kind), kind, name: `everything by ${kind}` })),
    ...destinations.map((one) => ({ id: one.id, kind: one.kind, name: nameOf(one) })),
  ];
  const found = await outages.get(subjects.map(({ id }) => id));
  return subjects.flatMap((subject) => {
    const { since, message, explanation } = found.get(subject.id) ?? {};
    if (since === undefined || message === undefined) return [];
    return [{ ...subject, since, message, ...(explanation && { todo: explanation.todo }) }];
  });
};
