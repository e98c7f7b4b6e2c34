/** All formats of webhooks. A format without a module does not compile. */
import { alertmanager } from './alertmanager.ts';
import { cloudevents } from './cloudevents.ts';
import { discord } from './discord.ts';
import type { FormatModule } from './format.ts';
import type { WebhookFormat } from './names.ts';
import { opsgenie } from './opsgenie.ts';
import { pagerduty } from './pagerduty.ts';
import { standard } from './standard.ts';
import { teams } from './teams.ts';

const modules = {
  standard,
  cloudevents,
  pagerduty,
  opsgenie,
  alertmanager,
  discord,
  teams,
} satisfies Record<WebhookFormat, FormatModule>;

export const formatOf = (format: WebhookFormat): FormatModule => modules[format];
