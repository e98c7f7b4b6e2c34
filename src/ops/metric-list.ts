/** Every metric of our own: its name, what it says, and its labels. */
import type { Registry } from 'prom-client';
import { type Maker, metricsOf } from './series.ts';

/** From a provider that answers at once to a timeout, in seconds. */
const REQUEST_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
/** From the next poll to a night of retries, in seconds. */
const LATENCY_BUCKETS = [0.5, 1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 900, 3600, 14_400, 86_400];

const readingMetrics = ({ bounded, counter, gauge, histogram }: Maker) => ({
  polls: counter('polls_total', 'Reads of one protocol and source, by how they ended.', [
    'service',
    'source',
    'outcome',
  ]),
  pollDuration: histogram(
    'poll_duration_seconds',
    'How long one poll took, all of its pages.',
    ['service', 'source'],
    REQUEST_BUCKETS,
  ),
  items: counter('items_total', 'Items read for the first time, forwarded or not.', [
    'service',
    'source',
    'assessment',
  ]),
  itemsForeign: counter(
    'items_foreign_total',
    'Items that name another protocol than the one asked for, at each read.',
    ['service', 'source'],
  ),
  itemsMalformed: counter('items_malformed_total', 'Items that could not be understood.', ['service', 'source']),
  boundsReached: counter(
    'service_bounds_reached_total',
    'Times that the service gave more than is read of it, by the bound that cut it off.',
    ['service', 'bound'],
  ),
  alerts: bounded('alerts_total', 'Items that became alerts.', ['service', 'protocol', 'source']),
  cursorLag: gauge('cursor_lag_seconds', 'Age of the oldest cursor: how far behind the slowest protocol is.', [
    'service',
    'source',
  ]),
  protocolCursorLag: gauge(
    'protocol_cursor_lag_seconds',
    'How long ago a protocol was read last; of many, the 200 that wait longest.',
    ['service', 'protocol', 'source'],
  ),
  protocolPollDuration: gauge(
    'protocol_poll_duration_seconds',
    'How long the last poll of a protocol by this daemon took; of many, the 200 slowest.',
    ['service', 'protocol', 'source'],
  ),
  protocolSeriesLeftOut: gauge(
    'protocol_series_left_out',
    'Protocols that a metric leaves out, or counts as `others`, as there are too many.',
    ['metric'],
  ),
  serviceUp: gauge('service_up', 'Whether the last request to the service was answered: 1 or 0.', ['service']),
  unreadProtocols: gauge('unread_protocols', 'Protocols that were not read for three poll intervals.', ['service']),
  silentProtocols: gauge(
    'silent_protocols',
    'Protocols of which nothing was inspected for far longer than is usual, or than expectEvery.',
    ['service'],
  ),
  pollInterval: gauge(
    'poll_interval_seconds',
    'How long a protocol waits between two polls at most, but for those that are late: the delay of its alerts.',
    ['service'],
  ),
  catalogProtocols: gauge('catalog_protocols', 'Protocols that are watched.', ['service']),
  unroutableEntries: gauge(
    'unroutable_entries',
    'Channel entries that reach nobody: nothing to send to, or a kind that is not configured.',
    [],
  ),
});

const reviewMetrics = ({ bounded, counter, gauge }: Maker) => ({
  rechecks: counter('second_looks_total', 'Inspections read again, by what that led to.', ['service', 'outcome']),
  audits: counter('audits_total', 'Comparisons of what a service lists with what became of it, by how they ended.', [
    'service',
    'outcome',
  ]),
  auditDifferences: bounded(
    'audit_differences_total',
    'Items that were not accounted for and were queued again: missing from the ledger, or lost from the queue.',
    ['service', 'protocol', 'kind'],
  ),
  auditedTo: gauge(
    'audited_to_timestamp_seconds',
    'Everything that the service wrote until then is accounted for, or was queued again.',
    ['service'],
  ),
});

const deliveryMetrics = ({ bounded, counter, gauge, histogram }: Maker) => ({
  deliveries: bounded('deliveries_total', 'Deliveries by what an attempt made of them: delivered, retrying or dead.', [
    'kind',
    'destination',
    'outcome',
  ]),
  deliveryFailures: bounded('delivery_failures_total', 'Messages that were not accepted, by reason.', [
    'kind',
    'destination',
    'reason',
  ]),
  deliveryDuration: histogram('delivery_duration_seconds', 'How long one attempt took.', ['kind'], REQUEST_BUCKETS),
  alertLatency: histogram(
    'alert_latency_seconds',
    'From the time the service wrote an item to its delivery.',
    ['kind'],
    LATENCY_BUCKETS,
  ),
  oldestUndelivered: gauge(
    'oldest_undelivered_seconds',
    'Age of the oldest alert that has not reached all of its destinations: waiting, tried again, or held; 0 for none.',
    ['service', 'source'],
  ),
  digests: counter('digests_total', 'Digests that were delivered.', ['kind']),
  digestAlerts: counter('digest_alerts_total', 'Alerts in digests that were delivered.', ['kind']),
  afterwards: counter(
    'message_changes_total',
    'Replies with a sound below messages that grew, and messages that were changed to say a new assessment; dead: given up.',
    ['kind', 'what', 'outcome'],
  ),
  slotWaits: counter('send_slot_waits_total', 'Times that a message had to wait for its rate limit.', ['kind']),
  slotWaitSeconds: counter('send_slot_wait_seconds_total', 'How long messages had to wait for their rate limit.', [
    'kind',
  ]),
  destinationInfo: gauge('destination_info', 'Always 1; the labels say what a destination is.', [
    'kind',
    'destination',
    'label',
  ]),
  destinationSeriesLeftOut: gauge(
    'destination_series_left_out',
    'Destinations without series of their own, as there are more than 500: what they do counts as `others`.',
    [],
  ),
  muted: bounded('muted_total', 'Deliveries that a mute kept from being sent.', ['kind', 'destination']),
  heldAlerts: gauge('held_alerts', 'Alerts that wait for a destination to be approved.', []),
  heldRefused: counter(
    'held_refused_total',
    'Alerts that are dead because too many wait for a destination to be approved.',
    [],
  ),
  queueJobs: gauge('queue_jobs', 'Jobs in a queue now, by state.', ['queue', 'state']),
  deadDeliveries: gauge('dead_deliveries', 'Deliveries that failed for good and are kept.', []),
  deadRemoved: counter(
    'dead_removed_total',
    'Dead deliveries that were removed, the oldest first, because too many were kept.',
    [],
  ),
  brokenDestinations: gauge(
    'broken_destinations',
    'Destinations that take nothing now, and `sender-KIND` where it is the token or mail server: 1 each.',
    ['kind', 'destination'],
  ),
  acknowledged: counter('acknowledged_total', 'Alerts that somebody has acknowledged, by the kind of the message.', [
    'kind',
  ]),
  pressesRefused: counter(
    'presses_refused_total',
    'Presses of buttons and links that had no effect, by why: forged, too late, elsewhere, by a stranger, against a rule, or too many.',
    ['kind', 'reason'],
  ),
  fallbackAlerts: counter('fallback_alerts_total', 'Alerts that went to the fallback, by why.', ['reason']),
  trouble: gauge(
    'trouble',
    'Troubles of Tocsin itself, by name, as `tocsin status` tells them: of this daemon and of what all daemons share.',
    ['trouble'],
  ),
  redisUp: gauge('redis_up', 'Whether Redis answers: 1 or 0.', []),
});

const configMetrics = ({ gauge }: Maker) => ({
  configReloaded: gauge(
    'config_last_reload_successful',
    'Whether the config that was read last is in force: 1, or 0 where it was refused.',
    [],
  ),
  configReloadedAt: gauge(
    'config_last_reload_success_timestamp_seconds',
    'When a config was last read and found right, or found unchanged.',
    [],
  ),
});

/** All of them, by the names that our code has for them, in one registry. Each name can be declared once in it. */
export const declareMetrics = (registry: Registry) => {
  const make = metricsOf(registry);
  return {
    owners: make.owners,
    /** By which a protocol's counters are known: `others`, where it has none of its own. */
    protocolLabel: make.protocolLabel,
    buildInfo: make.gauge('build_info', 'Always 1; the labels are the version.', ['version', 'node']),
    ...readingMetrics(make),
    ...reviewMetrics(make),
    ...deliveryMetrics(make),
    ...configMetrics(make),
  };
};
