/** Looks now and then for troubles that nothing else meets: the disk, the clocks, and what Redis would lose. */
import type { Logger } from 'pino';
import type { Conditions } from '../../ops/conditions.ts';
import type { lookAtRedis } from '../../redis/check.ts';
import { listText } from '../../text.ts';
import { ageText } from '../../time.ts';

/** In bytes: what we may still write, and the whole. */
interface DiskSpace {
  free: number;
  size: number;
}

const MB = 1e6;
const GB = 1e9;
/** Less is nearly full, however small the disk is. */
const LEAST_FREE = 100 * MB;
/** So is this part of it; but this much is enough on any disk. */
const LEAST_PART = 0.05;
const ENOUGH_FREE = 5 * GB;

const sizeText = (bytes: number): string =>
  bytes >= GB ? `${(bytes / GB).toFixed(1)} GB` : `${Math.floor(bytes / MB)} MB`;

/** What is wrong, as a condition says it; undefined where nothing is. */
export const diskTrouble = (directory: string, { free, size }: DiskSpace): string | undefined => {
  const isFull = free < LEAST_FREE || (free < ENOUGH_FREE && free < LEAST_PART * size);
  if (!isFull) return undefined;
  return `the disk of the data folder of Tocsin (${directory}) is nearly full: ${sizeText(free)} of ${sizeText(size)} are free`;
};

/** Below, dates in messages mislead nobody; far below the five minutes within which webhooks are accepted. */
const LARGEST_SKEW_MS = 30_000;

/** `aheadMs`: how far the clock of a peer is ahead of ours; negative where it is behind. All that differ are one condition. */
export const clockTrouble = (peers: readonly { peer: string; aheadMs: number }[]): string | undefined => {
  const far = peers.filter(({ aheadMs }) => Math.abs(aheadMs) >= LARGEST_SKEW_MS);
  const [first] = far;
  if (first === undefined) return undefined;
  const by = ageText(Math.abs(first.aheadMs));
  const isAhead = first.aheadMs > 0;
  // Nobody agrees with us.
  if (far.length > 1 && far.length === peers.length && far.every(({ aheadMs }) => aheadMs > 0 === isAhead)) {
    return `our clock is ${by} ${isAhead ? 'behind' : 'ahead of'} those of ${listText(far.map(({ peer }) => peer))}`;
  }
  return `the clock of ${first.peer} is ${by} ${isAhead ? 'ahead of' : 'behind'} ours${far.length > 1 ? `, and ${far.length - 1} more differ` : ''}`;
};

interface DetectorDependencies {
  conditions: Pick<Conditions, 'settle'>;
  lookAtRedis(): ReturnType<typeof lookAtRedis>;
  config: { dataDir: string; services: readonly { name: string }[] };
  spaceOf(directory: string): Promise<DiskSpace>;
  /** How far the clock of a service is ahead of ours, as its answers say. */
  serviceAheadMs(service: string): number;
  log: Pick<Logger, 'warn'>;
  /** How often Redis and the disk are looked at. */
  everyMs: number;
  monotonic(): number;
}

export const createDetectors = (dependencies: DetectorDependencies): (() => Promise<void>) => {
  const { conditions, config, spaceOf, serviceAheadMs, log, everyMs, monotonic } = dependencies;
  let lookedAt = Number.NEGATIVE_INFINITY;
  let ofRedis: { peer: string; aheadMs: number }[] = [];

  const lookAtDisk = async (): Promise<void> => {
    const space = await spaceOf(config.dataDir).catch((error: unknown) => {
      log.warn({ err: error, dataDir: config.dataDir }, 'how full the disk of the data directory is cannot be seen');
      return undefined;
    });
    if (space !== undefined) conditions.settle('disk', diskTrouble(config.dataDir, space));
  };

  const lookAtServer = async (): Promise<void> => {
    const seen = await dependencies.lookAtRedis();
    if (seen === undefined) return;
    for (const name of ['eviction', 'append-only']) {
      // `appendonly is off: when Redis restarts ...`
      const message = seen.findings.find((one) => one.name === name)?.message.replace(/\.$/, '');
      const [, what, why] = /^(.*?)(?:: (.*))?$/s.exec(message ?? '') ?? [];
      conditions.settle('durability', message && what, { why, of: name });
    }
    ofRedis = seen.aheadMs === undefined ? [] : [{ peer: 'Redis', aheadMs: seen.aheadMs }];
  };

  return async () => {
    if (monotonic() - lookedAt >= everyMs) {
      lookedAt = monotonic();
      await lookAtDisk();
      await lookAtServer();
    }
    const peers = config.services.map(({ name }) => ({ peer: `the service ${name}`, aheadMs: serviceAheadMs(name) }));
    conditions.settle('clock', clockTrouble([...peers, ...ofRedis]));
  };
};
