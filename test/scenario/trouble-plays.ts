/** Breaks things of a daemon, and expects that the operators hear of each once, and once when it is mended. */
import { expect } from 'vitest';
import type { ConditionName } from '../../src/condition.ts';
import { until } from '../support/until.ts';
import type { AskedDaemon } from './daemons.ts';
import type { World } from './world.ts';

/** Of whoever hears of Tocsin's own troubles. */
export const OPS = 'ops@example.com';

export interface Breakage {
  name: ConditionName;
  what: string;
  /** The sentence that is told. */
  says: RegExp;
  /** A busy machine makes it, too: what counts is what is told from then on until its end. */
  mayComeByItself?: boolean;
  break(): unknown;
  mend(): unknown;
}

/** Channels that break and work again are announced by themselves. */
const OUTAGE = /takes no alerts|wants no more alerts/;
const IS_OVER = /\bOver: |in Tocsin itself are over/;

/** Who hears of it at all; what happens together is one message. */
const tolds = ({ sandbox }: World) => {
  const mails = () =>
    sandbox.receivers.smtp
      .received()
      .filter(({ destination, text }) => destination === OPS && text.includes('Tocsin') && !OUTAGE.test(text));
  const count = ({ says }: Breakage, isOver: boolean): number =>
    mails().filter(({ text }) => says.test(text) && IS_OVER.test(text) === isOver).length;
  return {
    begun: (one: Breakage) => count(one, false),
    over: (one: Breakage) => count(one, true),
    withoutNextStep: (all: readonly Breakage[]) =>
      mails()
        .filter(({ text }) => all.some(({ says }) => says.test(text)) && !IS_OVER.test(text))
        .filter(({ text }) => !text.includes('To do: ')),
  };
};

const PATIENCE_MS = 60_000;

/** Those of one list happen together; they must not hinder each other. */
export const playTroubles = async (
  world: World,
  daemon: Pick<AskedDaemon, 'metric'>,
  lists: readonly (readonly Breakage[])[],
): Promise<void> => {
  const told = tolds(world);
  const shown = (trouble: ConditionName) => daemon.metric('tocsin_trouble', { trouble });
  const counted = new Map<Breakage, [begun: number, over: number]>();
  const playOne = async (one: Breakage): Promise<void> => {
    const [begun, over] = one.mayComeByItself ? [told.begun(one), told.over(one)] : [0, 0];
    await one.break();
    await until(`told: ${one.what}`, () => told.begun(one) > begun, PATIENCE_MS);
    await until(`the metric has it: ${one.what}`, async () => (await shown(one.name)) > 0);
    await one.mend();
    await until(`its end is told: ${one.what}`, () => told.over(one) > over, PATIENCE_MS);
    if (one.mayComeByItself) counted.set(one, [told.begun(one) - begun, told.over(one) - over]);
  };
  for (const list of lists) {
    await Promise.all(list.map(playOne));
    for (const { name } of list) await until(`the metric has no ${name}`, async () => (await shown(name)) === 0);
  }
  const all = lists.flat();
  const once = all.map(({ what }) => [what, 1, 1]);
  expect(all.map((one) => [one.what, ...(counted.get(one) ?? [told.begun(one), told.over(one)])])).toEqual(once);
  expect(told.withoutNextStep(all)).toEqual([]);
};
