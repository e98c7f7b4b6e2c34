/** Many destinations of one protocol, as its channels in the config. */
import type { ChannelKind } from '../../src/alert.ts';
import type { ChannelEntry } from '../../src/item.ts';
import type { Manner } from '../world/receivers.ts';
import { protocolName } from '../world/service.ts';

export interface Crowd {
  kind: Exclude<ChannelKind, 'slack'>;
  count: number;
  /** Number of the first; destinations of a kind with one number are one. */
  from: number;
  /** How these webhooks answer. Default: as all do. */
  manner?: Manner;
}

const ADDRESSES: Record<Crowd['kind'], (n: number, url: string, manner?: Manner) => string> = {
  telegram: (n) => String(100_000 + n),
  email: (n) => `oncall-${n}@example.com`,
  webhook: (n, url, manner) => `${url}/hooks/${manner === undefined ? '' : `${manner}/`}${n}`,
};

const entryOf = (crowd: Crowd, url: string): ChannelEntry => ({
  name: crowd.kind,
  contacts: Array.from({ length: crowd.count }, (_, n) => ADDRESSES[crowd.kind](crowd.from + n, url, crowd.manner)),
});

/** `url`: of the receivers. */
export const overridesOf = (crowds: readonly (readonly Crowd[])[], url: string) =>
  Object.fromEntries(crowds.map((own, n) => [protocolName(n), { channels: own.map((crowd) => entryOf(crowd, url)) }]));
