/** What is written at the service, in time and late, and what goes wrong there. */
import type { Random } from '../../../src/sandbox/random.ts';
import type { Quirks } from '../../../src/sandbox/service/quirks.ts';
import type { SandboxService } from '../../../src/sandbox/service/service.ts';
import { drawFault, SECOND, SETTINGS } from './draw.ts';
import type { Expected } from './expected.ts';
import { notificationKey } from './expected.ts';

export interface WritesSettings {
  random: Random;
  time: { now: number };
  quirks: Partial<Quirks>;
  protocols: readonly string[];
  service: SandboxService;
  expected: Expected;
  /** The service writes dates in whole seconds. */
  inSeconds: boolean;
}

const LONGEST_BLOCK = 12 * SECOND;

export const createWrites = ({ random, time, quirks, protocols, service, expected, inSeconds }: WritesSettings) => {
  const anyProtocol = (): string => protocols[random.below(protocols.length)] ?? '';
  const lateness = (): number => (random.chance(0.3) ? random.below(SETTINGS.lookback) : 0);

  const datesFor = (lateBy: number): { createdAt: number; updatedAt: number; txTimestamp: number } => {
    const createdAt = service.now() - lateBy;
    const txTimestamp = createdAt - random.below(Math.max(1, Math.min(LONGEST_BLOCK, SETTINGS.lookback - lateBy)));
    return { createdAt, txTimestamp, updatedAt: createdAt + (lateBy > 0 ? 0 : random.below(2)) };
  };

  const inspection = (): void => {
    const assessment = random.pick(['critical', 'critical', 'critical', 'ok', 'suspecious']);
    service.insertInspection({ protocol: anyProtocol(), assessment, ...datesFor(lateness()) });
  };

  /** Several of one and the same moment. */
  const burst = (): void => {
    const protocol = anyProtocol();
    const dates = datesFor(lateness());
    for (let left = 2 + random.below(6); left > 0; left -= 1) {
      service.insertInspection({ protocol, assessment: 'critical', ...dates });
    }
  };

  /** Equal ones are distinguished where one answer holds them all: a page does, and bounds that are listened to. */
  const mostEquals = (quirks.ignoredBounds ?? 'none') === 'none' ? 3 : 1;

  const notifications = (): void => {
    // Not more of one moment than the smallest page holds.
    time.now += 1 + random.below(50) + (inSeconds ? SECOND : 0);
    const protocol = anyProtocol();
    const { createdAt } = datesFor(lateness());
    const message = random.pick(['A critical finding.', 'Two of them.', `Number ${random.below(1000)}`]);
    const room = mostEquals - expected.equals(notificationKey(protocol, createdAt, message, inSeconds));
    for (let left = Math.min(room, 1 + random.below(3)); left > 0; left -= 1) {
      service.insertNotification({ protocol, message, createdAt, updatedAt: createdAt });
    }
  };

  const turnCritical = (): void => {
    const calm = service.inspections().filter(({ assessment }) => assessment !== 'critical');
    const item = calm[random.below(calm.length)];
    if (item) service.changeInspection(item._id, { assessment: 'critical' });
  };

  const vanish = (): void => {
    const all = service.inspections();
    const item = all[random.below(all.length)];
    if (!item) return;
    expected.removed(item._id);
    service.removeInspection(item._id);
  };

  return {
    inspection,
    some: (): void => {
      for (let left = random.below(6); left > 0; left -= 1) {
        random.pick([inspection, inspection, burst, notifications, turnCritical])();
      }
    },
    goWrong: (): void => {
      const fault = drawFault(random, service.now());
      service.addFault({
        fault,
        times: fault.kind === 'hang' ? 1 : 1 + random.below(3),
        after: random.below(6),
        ...(random.chance(0.3) ? { endpoint: random.pick(['listInspections', 'listNotifications']) } : {}),
      });
    },
    /** The lists move while they are walked, and time passes. Gives a function that ends it. */
    whileWalked: (): (() => void) =>
      service.onAnswered(({ endpoint }) => {
        if (endpoint !== 'listInspections' && endpoint !== 'listNotifications') return;
        if (random.below(12) === 0) random.pick([inspection, notifications, vanish])();
        time.now += random.below(300);
      }),
  };
};
