/** Every channel kind passes the one suite. A new kind is a new line here. */
import { describeContract } from './suite.ts';
import { webhookContestant } from './webhook.ts';

describeContract(webhookContestant);
