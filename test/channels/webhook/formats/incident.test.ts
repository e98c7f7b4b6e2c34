/** Whatever becomes of the findings of a transaction, its incident is open while one of them is bad, and as severe as the worst. */
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { type Alert, isPlayedDown } from '../../../../src/alert.ts';
import { createOpsgenieReceiver } from '../../../../src/sandbox/receivers/formats/opsgenie.ts';
import { createPagerdutyReceiver } from '../../../../src/sandbox/receivers/formats/pagerduty.ts';
import { inspectionAlert } from '../../../support/alerts.ts';
import { hashOf } from '../../../support/numbered.ts';
import { openVendor, sentInspectionsOf } from '../../../support/webhooks.ts';

const KEY = 'R0123456789abcdefghijklmnopqrstu';
const ASSESSMENTS = [undefined, 'ok', 'suspecious', 'critical'] as const;
type Assessment = (typeof ASSESSMENTS)[number];

const isBad = (one: Assessment): boolean => one === 'critical' || one === 'suspecious';

const closers: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

const open = async () => {
  const [pagerduty, opsgenie] = [createPagerdutyReceiver({ routingKey: KEY }), createOpsgenieReceiver()];
  const toPagerduty = openVendor((await pagerduty.start()).url, { format: 'pagerduty', routingKey: KEY });
  const toOpsgenie = openVendor((await opsgenie.start()).url, { format: 'opsgenie', apiKey: 'sandbox-api-key' });
  closers.push(pagerduty.stop, opsgenie.stop, toPagerduty.close, toOpsgenie.close);
  return { pagerduty, opsgenie, benches: [toPagerduty, toOpsgenie] };
};

interface Step {
  protocol: number;
  now: Assessment;
}

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({ protocol: fc.integer({ min: 0, max: 3 }), now: fc.constantFrom(...ASSESSMENTS) }),
  { minLength: 1, maxLength: 10 },
);

/** The alert of a step, as polls and second looks make it; undefined where nobody gets one. */
const alertOf = (
  first: Alert | undefined,
  was: Assessment,
  { protocol, now }: Step,
  hash: string,
): Alert | undefined => {
  if (first === undefined) {
    const item = { _id: `${hash} ${protocol}`, protocol: `Protocol ${protocol}`, txHash: hash, assessment: now ?? '' };
    return isBad(now) ? inspectionAlert({ id: item._id, item }) : undefined;
  }
  if (was === undefined || was === now) return undefined;
  const isWorse = ASSESSMENTS.indexOf(now) > ASSESSMENTS.indexOf(was);
  const change = now === undefined ? 'vanished' : isWorse ? 'upgraded' : 'downgraded';
  return {
    ...first,
    ...{ id: `${first.id} ${change} ${now}`, type: `inspection.${change}` },
    followUp: { of: first.id, was, ...(now === undefined ? {} : { is: now }) },
  };
};

type Found = Map<number, { first: Alert; now: Assessment }>;

const worstOf = (found: Found): Assessment => {
  const bad = [...found.values()].map(({ now }) => now).filter(isBad);
  return bad.toSorted((one, other) => ASSESSMENTS.indexOf(other) - ASSESSMENTS.indexOf(one))[0];
};

test('by any sequence of findings and follow-ups', async () => {
  const { pagerduty, opsgenie, benches } = await open();
  let runs = 0;

  const take = async (found: Found, step: Step, hash: string): Promise<void> => {
    const { first, now: was } = found.get(step.protocol) ?? {};
    const alert = alertOf(first, was, step, hash);
    if (alert === undefined) return;
    found.set(step.protocol, { first: first ?? alert, now: step.now });
    const sentInspections = sentInspectionsOf(
      ...[...found.values()].map((one) => [one.first, one.now, one.first !== alert] as const),
    );
    const counts = () => [pagerduty.incidents().length, opsgenie.alerts().length];
    const before = counts();
    for (const { deliver } of benches) await deliver([alert], { sentInspections });
    if (isPlayedDown(alert)) expect(counts()).toEqual(before);
  };

  const isOpenAs = (worst: Assessment): void => {
    const [severity, priority] = worst === 'critical' ? ['critical', 'P1'] : ['warning', 'P3'];
    const incidents = pagerduty.incidents().filter(({ state }) => state !== 'resolved');
    expect(incidents).toMatchObject(worst === undefined ? [] : [{ severity }]);
    const alerts = opsgenie.alerts().filter(({ state }) => state !== 'closed');
    expect(alerts).toMatchObject(worst === undefined ? [] : [{ priority }]);
  };

  const play = async (some: readonly Step[]): Promise<void> => {
    runs += 1;
    const found: Found = new Map();
    for (const step of some) {
      await take(found, step, hashOf(runs));
      isOpenAs(worstOf(found));
    }
    for (const key of pagerduty.openKeys()) pagerduty.resolve(key);
    for (const alias of opsgenie.openAliases().keys()) opsgenie.close(alias);
  };

  await fc.assert(fc.asyncProperty(steps, play), { numRuns: 60 });
});
