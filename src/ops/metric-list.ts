/** Every metric of our own: its name, its labels, and what it says. */
import type { Registry } from 'prom-client';
import { type Maker, metricsOf } from './series.ts';

/** From a provider that answers at once to a timeout, in seconds. */
const REQUEST_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
/** From the next poll to a night of retries, in seconds. */
const LATENCY_BUCKETS = [0.5, 1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 900, 3600, 14_400, 86_400];

const readingMetrics = ({ bounded, counter, gauge, histogram }: Maker) => ({
  polls: counter('polls_total{service,source,outcome}', 'Reads of one protocol and source, by how they ended.'),
  pollDuration: histogram(
    'poll_duration_seconds{service,source}',
    'How long one poll took, all of its pages.',
    REQUEST_BUCKETS,
  ),
  items: counter('items_total{service,source,assessment}', 'Items read for the first time, forwarded or not.'),
  itemsForeign: counter(
    'items_foreign_total{service,source}',
    'Items that name another protocol than Tocsin asked for, counted at each read.',
  ),
  itemsMalformed: counter('items_malformed_total{service,source}', 'Items that could not be understood.'),
  boundsReached: counter(
    'service_bounds_reached_total{service,bound}',
    'Times that the service gave more than Tocsin reads, by the limit that cut it off.',
  ),
  alerts: bounded('alerts_total{service,protocol,source}', 'Items that became alerts.'),
  cursorLag: gauge(
    'cursor_lag_seconds{service,source}',
    'Age of the oldest cursor: how far behind the slowest protocol is.',
  ),
  protocolCursorLag: gauge(
    'protocol_cursor_lag_seconds{service,protocol,source}',
    'Time since a protocol was last read; only the 200 that wait longest.',
  ),
  protocolPollDuration: gauge(
    'protocol_poll_duration_seconds{service,protocol,source}',
    'How long the last poll of a protocol by this daemon took; only the 200 slowest.',
  ),
  protocolSeriesLeftOut: gauge(
    'protocol_series_left_out{metric}',
    'Protocols that a metric leaves out or counts as `others`, because there are too many.',
  ),
  serviceUp: gauge('service_up{service}', 'Whether the last request to the service was answered: 1 or 0.'),
  unreadProtocols: gauge('unread_protocols{service}', 'Protocols that were not read for three poll intervals.'),
  silentProtocols: gauge(
    'silent_protocols{service}',
    'Protocols with no inspection for far longer than usual, or for longer than expectEvery.',
  ),
  pollInterval: gauge(
    'poll_interval_seconds{service}',
    'Longest planned time between two polls of a protocol: how much polling delays its alerts.',
  ),
  catalogProtocols: gauge('catalog_protocols{service}', 'Protocols that are watched.'),
  unroutableEntries: gauge(
    'unroutable_entries',
    'Channel entries that reach nobody: nothing to send to, or a kind that is not configured. Without those of known remarks.',
  ),
  knownRemarks: gauge('known_remarks', 'Standing remarks that somebody has marked as known: they count nowhere else.'),
});

const reviewMetrics = ({ bounded, counter, gauge }: Maker) => ({
  rechecks: counter(
    'second_looks_total{service,outcome}',
    'Inspections that were read again later, by what that led to.',
  ),
  audits: counter(
    'audits_total{service,outcome}',
    'Audits: comparisons of what a service lists with what became of it, by how they ended.',
  ),
  auditDifferences: bounded(
    'audit_differences_total{service,protocol,kind}',
    'Items that an audit queued again: missing from the ledger, or lost from the queue.',
  ),
  auditedTo: gauge(
    'audited_to_timestamp_seconds{service}',
    'Until when audits have accounted for everything that the service wrote, or queued it again.',
  ),
});

const deliveryMetrics = ({ bounded, counter, gauge, histogram }: Maker) => ({
  deliveries: bounded(
    'deliveries_total{kind,destination,outcome}',
    'Attempts to deliver an alert, by outcome: delivered, retrying or dead.',
  ),
  deliveryFailures: bounded(
    'delivery_failures_total{kind,destination,reason}',
    'Messages that were not accepted, by reason.',
  ),
  deliveryDuration: histogram('delivery_duration_seconds{kind}', 'How long one attempt took.', REQUEST_BUCKETS),
  alertLatency: histogram(
    'alert_latency_seconds{kind}',
    'From the time the service wrote an item to its delivery.',
    LATENCY_BUCKETS,
  ),
  oldestUndelivered: gauge(
    'oldest_undelivered_seconds{service,source}',
    'Age of the oldest alert that has not reached all of its destinations: waiting, tried again, or held; 0 for none.',
  ),
  digests: counter('digests_total{kind}', 'Digests that were delivered.'),
  digestAlerts: counter('digest_alerts_total{kind}', 'Alerts in digests that were delivered.'),
  afterwards: counter(
    'message_changes_total{kind,what,outcome}',
    'Replies with a sound below messages that grew, and messages changed to show a new assessment; dead: given up.',
  ),
  slotWaits: counter('send_slot_waits_total{kind}', 'Times that a message had to wait for its rate limit.'),
  slotWaitSeconds: counter('send_slot_wait_seconds_total{kind}', 'How long messages had to wait for their rate limit.'),
  destinationInfo: gauge('destination_info{kind,destination,label}', 'Always 1; the labels say what a destination is.'),
  destinationSeriesLeftOut: gauge(
    'destination_series_left_out',
    'Destinations beyond the first 500: they have no series of their own, and count as `others`.',
  ),
  muted: bounded('muted_total{kind,destination}', 'Deliveries that a mute kept from being sent.'),
  heldAlerts: gauge('held_alerts', 'Alerts that wait for the approval of their destination.'),
  heldRefused: counter(
    'held_refused_total',
    'Alerts that are dead because too many wait for the approval of their destination.',
  ),
  queueJobs: gauge('queue_jobs{queue,state}', 'Jobs in a queue now, by state.'),
  deadDeliveries: gauge('dead_deliveries', 'Deliveries that failed for good and are kept.'),
  deadRemoved: counter(
    'dead_removed_total',
    'Dead deliveries that Tocsin removed, the oldest first, because it keeps only so many.',
  ),
  brokenDestinations: gauge(
    'broken_destinations{kind,destination}',
    'Destinations that take nothing now: 1 each; `sender-KIND` for a token or mail server.',
  ),
  acknowledged: counter(
    'acknowledged_total{kind}',
    'Alerts that somebody has acknowledged, by the kind of the message.',
  ),
  pressesRefused: counter(
    'presses_refused_total{kind,reason}',
    'Presses of buttons and links that had no effect, by reason: forged, too late, elsewhere, by a stranger, against a rule, or too many.',
  ),
  fallbackAlerts: counter('fallback_alerts_total{reason}', 'Alerts that went to the fallback, by reason.'),
  trouble: gauge(
    'trouble{trouble}',
    'Troubles of Tocsin itself, by name, as in `tocsin status`: those of this daemon and those that all daemons share.',
  ),
  redisUp: gauge('redis_up', 'Whether Redis answers: 1 or 0.'),
});

const configMetrics = ({ gauge }: Maker) => ({
  configReloaded: gauge(
    'config_last_reload_successful',
    'Whether the config that was read last is in force: 1, or 0 if it was refused.',
  ),
  configReloadedAt: gauge(
    'config_last_reload_success_timestamp_seconds',
    'When the daemon last read a config that was right or unchanged.',
  ),
});

/** All of them, by the names that our code has for them, in one registry. Each name can be declared once in it. */
export const declareMetrics = (registry: Registry) => {
  const make = metricsOf(registry);
  return {
    owners: make.owners,
    /** By which a protocol's counters are known: `others`, where it has none of its own. */
    protocolLabel: make.protocolLabel,
    buildInfo: make.gauge(
      'build_info{version,revision,node}',
      'Always 1; the labels are the version, the commit of the build, and the version of Node.',
    ),
    ...readingMetrics(make),
    ...reviewMetrics(make),
    ...deliveryMetrics(make),
    ...configMetrics(make),
  };
};
