/**
 * How many cases the tests have that docs/security.md counts, at least. A file that has fewer fails, and so does the document
 * where it claims more. Where one test tries several things it counts them itself, by `casesOf`.
 */
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export const ATTACK_CASES: Readonly<Record<string, number>> = {
  'test/app/acknowledgement-refused-presses.test.ts': 1,
  'test/channels/content/template-bounds.test.ts': 67,
  'test/channels/content/template.test.ts': 19,
  'test/channels/email/defang.test.ts': 24,
  'test/channels/floods.test.ts': 115,
  'test/channels/guard-dial.test.ts': 22,
  'test/channels/guard.test.ts': 126,
  'test/channels/huge.test.ts': 13,
  'test/channels/resolver.test.ts': 16,
  'test/channels/templated.test.ts': 19,
  'test/channels/webhook/formats/alertmanager.test.ts': 9,
  'test/channels/webhook/formats/cloudevents.test.ts': 1,
  'test/channels/webhook/formats/discord-text.test.ts': 12,
  'test/channels/webhook/formats/discord.test.ts': 5,
  'test/channels/webhook/formats/event.test.ts': 14,
  'test/channels/webhook/formats/every-sort.test.ts': 10,
  'test/channels/webhook/formats/incident.test.ts': 1,
  'test/channels/webhook/formats/opsgenie.test.ts': 11,
  'test/channels/webhook/formats/pagerduty.test.ts': 21,
  'test/channels/webhook/formats/people.test.ts': 23,
  'test/channels/webhook/formats/severity.test.ts': 6,
  'test/channels/webhook/signature.test.ts': 7,
  'test/channels/webhook/verify.test.ts': 24,
  'test/cli/every-command-markup.test.ts': 72,
  'test/cli/init.test.ts': 12,
  'test/cli/terminal.test.ts': 3,
  'test/config/exposures.test.ts': 7,
  'test/connection/peers.test.ts': 39,
  'test/connection/proxy-variables.test.ts': 41,
  'test/contract/channels.test.ts': 671,
  'test/contract/spoofed.test.ts': 3450,
  'test/deliver/slot-turns-crowd.test.ts': 7,
  'test/deploy/image.test.ts': 2,
  'test/features/acknowledgement/annotation-token.test.ts': 17,
  'test/features/acknowledgement/link.test.ts': 160,
  'test/features/acknowledgement/listen.test.ts': 39,
  'test/features/acknowledgement/press.test.ts': 45,
  'test/features/approval/destinations.test.ts': 4,
  'test/features/approval/hold.test.ts': 16,
  'test/features/approval/policy.test.ts': 38,
  'test/features/correlation/correlate-match.test.ts': 6,
  'test/features/misfits/misfits.test.ts': 6,
  'test/features/page/ended-sessions.test.ts': 1,
  'test/features/tripwire/changes.test.ts': 23,
  'test/features/tripwire/message.test.ts': 8,
  'test/features/tripwire/notifier-audience.test.ts': 10,
  'test/features/tripwire/tripwire.test.ts': 21,
  'test/item-size.test.ts': 4,
  'test/networks.test.ts': 1,
  'test/ops/connections.test.ts': 16,
  'test/ops/log.test.ts': 25,
  'test/ops/metrics.test.ts': 10,
  'test/ops/page/acknowledge.test.ts': 4,
  'test/ops/page/actions.test.ts': 22,
  'test/ops/page/browser-markup.test.ts': 120,
  'test/ops/page/page.test.ts': 22,
  'test/ops/page/session-origin.test.ts': 3,
  'test/ops/page/session.test.ts': 2,
  'test/ops/series.test.ts': 1,
  'test/ops/server-host-check.test.ts': 31,
  'test/private-file.test.ts': 7,
  'test/queue/job.test.ts': 25,
  'test/queue/queues.test.ts': 9,
  'test/redis/connect-proxy.test.ts': 7,
  'test/scenario/approval.test.ts': 3,
  'test/scenario/hostile.test.ts': 1,
  'test/scenario/large-item.test.ts': 1,
  'test/scenario/queues-page.test.ts': 2,
  'test/scenario/secrets.test.ts': 1,
  'test/scenario/tripwire-attacks.test.ts': 5,
  'test/scenario/tripwire.test.ts': 2,
  'test/scenario/unheard.test.ts': 13,
  'test/secret.test.ts': 16,
  'test/service/bounds.test.ts': 22,
  'test/service/stretches.test.ts': 5,
};

/** Files with tests that try several things each. */
export const COUNTED_WITHIN: ReadonlySet<string> = new Set([
  'test/cli/every-command-markup.test.ts',
  'test/contract/spoofed.test.ts',
  'test/features/acknowledgement/link.test.ts',
  'test/ops/page/browser-markup.test.ts',
]);

/** Of an absolute path; 0 where nothing is claimed. */
export const casesOf = (path: string): number => ATTACK_CASES[relative(ROOT, path)] ?? 0;

/** The number of tests that a file must have. */
export const testsOf = (path: string): number => (COUNTED_WITHIN.has(relative(ROOT, path)) ? 1 : casesOf(path));
