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
}

export const currentOutages = async (
  outages: Pick<OutageStore, 'get'>,
  destinations: readonly Pick<DestinationStatistics, 'id' | 'kind' | 'label'>[],
): Promise<CurrentOutage[]> => {
  const subjects = [
    ...CHANNEL_KINDS.map((kind) => ({ id: senderId(kind), kind, name: `everything by ${kind}` })),
    ...destinations.map(({ id, kind, label }) => ({ id, kind, name: nameOf({ kind, label }) })),
  ];
  const found = await outages.get(subjects.map(({ id }) => id));
  return subjects.flatMap((subject) => {
    const { since, message } = found.get(subject.id) ?? {};
    return since === undefined || message === undefined ? [] : [{ ...subject, since, message }];
  });
};
