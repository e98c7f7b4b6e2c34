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

const addressOf = ({ kind, manner }: Crowd, url: string, n: number): string => {
  if (kind === 'telegram') return String(100_000 + n);
  if (kind === 'email') return `oncall-${n}@example.com`;
  return `${url}/hooks/${manner === undefined ? '' : `${manner}/`}${n}`;
};

const entryOf = (crowd: Crowd, url: string): ChannelEntry => ({
  name: crowd.kind,
  contacts: Array.from({ length: crowd.count }, (_, n) => addressOf(crowd, url, crowd.from + n)),
});

/** `url`: of the receivers. */
export const overridesOf = (crowds: readonly (readonly Crowd[])[], url: string) =>
  Object.fromEntries(crowds.map((own, n) => [protocolName(n), { channels: own.map((crowd) => entryOf(crowd, url)) }]));
