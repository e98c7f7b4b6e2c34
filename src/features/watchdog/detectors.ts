/** Looks now and then for troubles that nothing else meets: the disk, the clocks, and what Redis would lose. */
import type { Logger } from 'pino';
import type { Conditions } from '../../ops/conditions.ts';
import type { lookAtRedis } from '../../redis/check.ts';
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
  return `the disk of dataDir (${directory}) is nearly full: ${sizeText(free)} of ${sizeText(size)} are free`;
};

/** Below, dates in messages mislead nobody; far below the five minutes within which webhooks are accepted. */
const LARGEST_SKEW_MS = 30_000;

/** `aheadMs`: how far the clock of `peer` is ahead of ours; negative where it is behind. */
export const clockTrouble = (peer: string, aheadMs: number): string | undefined => {
  if (Math.abs(aheadMs) < LARGEST_SKEW_MS) return undefined;
  const direction = aheadMs > 0 ? 'ahead of' : 'behind';
  return `the clock of ${peer} is ${ageText(Math.abs(aheadMs))} ${direction} ours`;
};

interface DetectorDependencies {
  conditions: Pick<Conditions, 'report' | 'over'>;
  lookAtRedis(): ReturnType<typeof lookAtRedis>;
  dataDir: string;
  spaceOf(directory: string): Promise<DiskSpace>;
  services: readonly string[];
  /** How far the clock of a service is ahead of ours, as its answers say. */
  serviceAheadMs(service: string): number;
  log: Pick<Logger, 'warn'>;
  /** How often Redis and the disk are looked at. Default `LOOK_EVERY_MS`. */
  everyMs?: number;
  monotonic(): number;
}

export const LOOK_EVERY_MS = 60_000;
const SETTINGS = ['eviction', 'append-only'];

/** `appendonly is off: when Redis restarts ...` */
const saying = (message: string, of: string): [string, { why?: string; of: string }] => {
  const [what = '', ...rest] = message.replace(/\.$/, '').split(': ');
  return [what, rest.length === 0 ? { of } : { why: rest.join(': '), of }];
};

export const createDetectors = (dependencies: DetectorDependencies): (() => Promise<void>) => {
  const { conditions, dataDir, spaceOf, services, serviceAheadMs, log, monotonic } = dependencies;
  const { everyMs = LOOK_EVERY_MS } = dependencies;
  let lookedAt = Number.NEGATIVE_INFINITY;

  const settle = (name: 'disk' | 'clock', of: string, what: string | undefined): void => {
    if (what === undefined) conditions.over(name, of);
    else conditions.report(name, what, { of });
  };

  const lookAtDisk = async (): Promise<void> => {
    const space = await spaceOf(dataDir).catch((error: unknown) => {
      log.warn({ err: error, dataDir }, 'how full the disk of the data directory is cannot be seen');
      return undefined;
    });
    if (space !== undefined) settle('disk', '', diskTrouble(dataDir, space));
  };

  const lookAtServer = async (): Promise<void> => {
    const seen = await dependencies.lookAtRedis();
    if (seen === undefined) return;
    for (const name of SETTINGS) {
      const finding = seen.findings.find((one) => one.name === name);
      if (finding === undefined) conditions.over('durability', name);
      else conditions.report('durability', ...saying(finding.message, name));
    }
    settle('clock', 'redis', clockTrouble('Redis', seen.aheadMs ?? 0));
  };

  return async () => {
    for (const name of services) {
      settle('clock', `service ${name}`, clockTrouble(`the service ${name}`, serviceAheadMs(name)));
    }
    if (monotonic() - lookedAt < everyMs) return;
    lookedAt = monotonic();
    await lookAtDisk();
    await lookAtServer();
  };
};
