/** Audits one service: each protocol's list against the ledger, then waiting deliveries against the queue. Heals both. */
import { getOrCreate } from '../../bounded-map.ts';
import { mapInChunks } from '../../chunks.ts';
import { messageOf, ServiceError } from '../../errors.ts';
import type { AlertRecord } from '../../ledger/ledger.ts';
import type { Track } from '../../poll/cursor.ts';
import { createWalkDetector, type WalkDetector } from '../../poll/failure-detector.ts';
import type { AuditReport, ProtocolAudit, Unaudited } from './balance.ts';
import { createLostSearch, type FoundLost } from './lost-deliveries.ts';
import {
  type Audited,
  type AuditOptions,
  type AuditParts,
  createProtocolAudit,
  emptyAudit,
  REMEMBERED_MS,
} from './protocol.ts';

/** Requests at once, besides those of polls. */
const WIDTH = 4;
const READ_AT_ONCE = 500;
const NOT_ASKED = 'not asked, as the service is in trouble';

type Recorded = ReadonlyMap<string, AlertRecord['alert'][]>;

/** Gives the alerts of a service's inspections that the ledger dates after `since`, by protocol. */
const createRecordedSince =
  ({ settings: { assessments }, alertIndex, ledger }: AuditParts) =>
  async (service: string, since: number): Promise<Recorded> => {
    const types = assessments.map((assessment) => `inspection.${assessment}`);
    const ids = await alertIndex.between(since, Number.POSITIVE_INFINITY);
    const records = await mapInChunks(ids, READ_AT_ONCE, ledger.read);
    const alerts = records.flatMap((record) => record?.alert ?? []);
    const own = alerts.filter((alert) => alert.service === service && types.includes(alert.type));
    return Map.groupBy(own, ({ protocol }) => protocol);
  };

/** Adds lost deliveries to their protocols' audits, and those of announcements to one of their own. */
const addLost = (
  audited: string,
  audits: Map<string, ProtocolAudit>,
  found: readonly FoundLost[],
  now: number,
): void => {
  for (const { delivery, healed } of found) {
    const { service, protocol, itemId, id } = delivery.record;
    const key = service === audited ? protocol : JSON.stringify([service, protocol]);
    const audit = getOrCreate(audits, key, () => emptyAudit(service, protocol, now));
    audit.lost.push({ alertId: id, itemId, destination: delivery.destination, healed });
    audit.healed += healed ? 1 : 0;
  }
};

/** Gives what audits every protocol of a service, some at a time; a service in trouble is not asked any more. */
const createProtocolAudits = (dependencies: AuditParts) => {
  const { settings, protocolsOf } = dependencies;
  const auditProtocol = createProtocolAudit(dependencies);

  const attempt = async (detector: WalkDetector, track: Track, audit: () => Promise<Audited>): Promise<Audited> => {
    if (detector.isDown()) return { problem: NOT_ASKED };
    try {
      const audited = await audit();
      detector.worked();
      return audited;
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      detector.failed(track.protocol, error);
      return { problem: messageOf(error) };
    }
  };

  return async (service: string, recorded: Recorded, options: AuditOptions, signal: AbortSignal) => {
    const isPolled = settings.sources.includes('inspections');
    const protocols = (isPolled ? await protocolsOf(service) : []).values();
    const detector = createWalkDetector();
    const audits = new Map<string, ProtocolAudit>();
    const unaudited: Unaudited[] = [];
    const waiting: AlertRecord[] = [];
    const work = async (): Promise<void> => {
      for (const protocol of protocols) {
        signal.throwIfAborted();
        const track: Track = { service, source: 'inspections', protocol };
        const own = recorded.get(protocol) ?? [];
        const audited = await attempt(detector, track, () => auditProtocol(track, own, options, signal));
        if ('problem' in audited) {
          unaudited.push({ service, protocol, problem: audited.problem });
        } else {
          audits.set(protocol, audited.audit);
          waiting.push(...audited.waiting);
        }
      }
    };
    await Promise.all(Array.from({ length: WIDTH }, work));
    return { audits, unaudited, waiting };
  };
};

export type Auditor = ReturnType<typeof createAuditor>;

export const createAuditor = (dependencies: AuditParts) => {
  const { now } = dependencies;
  const recordedSince = createRecordedSince(dependencies);
  const auditProtocols = createProtocolAudits(dependencies);
  const searchLost = createLostSearch(dependencies);
  return {
    /** Throws where Redis failed or the signal aborted; a service that does not answer is in the report. */
    run: async (service: string, options: AuditOptions, signal: AbortSignal): Promise<AuditReport> => {
      const recorded = options.isThorough ? await recordedSince(service, now() - REMEMBERED_MS) : new Map();
      const { audits, unaudited, waiting } = await auditProtocols(service, recorded, options, signal);
      addLost(service, audits, await searchLost(service, waiting, options, signal), now());
      return { protocols: [...audits.values()], unaudited };
    },
  };
};
