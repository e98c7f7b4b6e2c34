/** Whether all is well enough for a heartbeat, and where it can be said that it is not. Pure. */
import { ageText } from '../../time.ts';
import { type Trouble, type TroubleName, troubleText } from '../../trouble.ts';

/** Something that has to be proven again and again. */
export interface Proof {
  /** As a sentence begins: `the service main was not read`. */
  lacking: string;
  /** How long ago it was proven last; undefined for never. */
  agoMs: number | undefined;
}

export interface HeartbeatInput {
  isRedisReady: boolean;
  /** As all daemons know them. */
  troubles: readonly Trouble[];
  proofs: readonly Proof[];
  /** Each has to be proven within it. */
  withinMs: number;
}

/** With these an alert may not get through. Of the others somebody hears by the channels themselves. */
const STOPPING: ReadonlySet<TroubleName> = new Set(['redis', 'service', 'channel', 'queue']);

/** Why there is no heartbeat, in a sentence; undefined where there is one. */
export const reasonAgainst = ({ isRedisReady, troubles, proofs, withinMs }: HeartbeatInput): string | undefined => {
  if (!isRedisReady) return 'Redis does not answer';
  const reasons = [
    ...troubles.filter(({ name }) => STOPPING.has(name)).map(troubleText),
    ...proofs.flatMap(({ lacking, agoMs }) => {
      if (agoMs !== undefined && agoMs <= withinMs) return [];
      return `${lacking} ${agoMs === undefined ? 'yet' : `for ${ageText(agoMs)}`}`;
    }),
  ];
  return reasons.length === 0 ? undefined : reasons.join('; ');
};

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const HOSTED = /^(hc-ping\.com|hchk\.io)$/;

/**
 * Where a failure is told, by the convention of Healthchecks (healthchecks.io): `/fail` after the path. Its URLs are known
 * by its host, by a path that ends in a UUID, or by `/ping/KEY/SLUG`. Other switches only notice that nobody calls.
 */
export const failUrlOf = (text: string): string | undefined => {
  const url = new URL(text);
  const parts = url.pathname.split('/').filter((part) => part !== '');
  const isPing = parts.at(-2) === 'ping' || parts.at(-3) === 'ping';
  if (!HOSTED.test(url.hostname) && !UUID.test(parts.at(-1) ?? '') && !isPing) return undefined;
  url.pathname = `/${[...parts, 'fail'].join('/')}`;
  return url.href;
};
