/** Every channel kind passes the one suite. A new kind is a new line here. */
import { slackContestant } from './slack.ts';
import { describeContract } from './suite.ts';
import { webhookContestant } from './webhook.ts';

describeContract(slackContestant);
describeContract(webhookContestant);
