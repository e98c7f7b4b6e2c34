/** Every channel kind passes the one suite. A new kind is a new line here. */
import { discordContestant } from './discord.ts';
import { emailContestant } from './email.ts';
import { slackContestant } from './slack.ts';
import { describeContract } from './suite.ts';
import { teamsContestant } from './teams.ts';
import { telegramContestant } from './telegram.ts';
import { webhookContestant } from './webhook.ts';

describeContract(emailContestant);
describeContract(slackContestant);
describeContract(telegramContestant);
describeContract(webhookContestant);
describeContract(discordContestant);
describeContract(teamsContestant);
