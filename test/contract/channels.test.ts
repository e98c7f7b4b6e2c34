/** Every channel kind passes the one suite, and so does each format of webhooks that people read. */
import { expect, test } from 'vitest';
import type { ChannelKind } from '../../src/alert.ts';
import { DELIVERY_REASONS } from '../../src/errors.ts';
import type { Contestant } from './contestant.ts';
import { discordContestant } from './discord.ts';
import { emailContestant } from './email.ts';
import { slackContestant } from './slack.ts';
import { describeContract } from './suite.ts';
import { teamsContestant } from './teams.ts';
import { telegramContestant } from './telegram.ts';
import { webhookContestant } from './webhook.ts';

/** A kind without a contestant does not compile. */
const BY_KIND = {
  email: emailContestant,
  slack: slackContestant,
  telegram: telegramContestant,
  webhook: webhookContestant,
} satisfies Record<ChannelKind, Contestant<unknown>>;

const CONTESTANTS: readonly Contestant<unknown>[] = [...Object.values(BY_KIND), discordContestant, teamsContestant];

for (const contestant of CONTESTANTS) describeContract(contestant);

test('every reason is what some answer of a provider means', () => {
  const given = CONTESTANTS.flatMap(({ refusals }) => refusals.map(({ reason }) => reason));
  expect(DELIVERY_REASONS.filter((reason) => !given.includes(reason))).toEqual([]);
});
