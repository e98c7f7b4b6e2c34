/** Inspections that name another protocol than the one they are listed for: to whom they are forwarded, and what is said. */
import pino from 'pino';
import { expect, test } from 'vitest';
import type { News } from '../../../src/features/conditions/announcer.ts';
import { createMisfits } from '../../../src/features/misfits/misfits.ts';
import type { Item } from '../../../src/item.ts';
import { makeItem } from '../../support/items.ts';

const HOUR = 3_600_000;
const WAIT = 60_000;
const NAMES = ['Vault', 'Farm', 'Bridge', 'Margin', 'Decoy'];

const setUp = (isListedThere: (item: Item) => boolean | undefined = () => false) => {
  let at = 0;
  const forwarded: string[] = [];
  const announced: { key: string; members: string[] }[] = [];
  const said: string[] = [];
  const misfits = createMisfits({
    isWanted: ({ assessment }) => assessment === 'critical',
    isListedThere: async (_service, item) => isListedThere(item),
    forward: async (_service, protocol, { itemId }) => {
      forwarded.push(`${itemId} ${protocol}`);
      return 'forwarded';
    },
    announcer: {
      round: async (_group, find) => {
        const { begun, ended }: News = await find(announced as never);
        for (const { key, members, words } of begun) {
          announced.push({ key, members });
          said.push(words(members));
        }
        for (const { of, words } of ended) {
          for (const { members } of of) said.push(`${await words()} (${members.length})`);
          announced.length = 0;
        }
        return true;
      },
    },
    destinationsOf: async () => [],
    protocolsOf: async () => NAMES,
    isOwn: () => () => true,
    waitMs: WAIT,
    lastsMs: 3_600_000,
    log: pino({ level: 'silent' }),
    monotonic: () => at,
    now: () => at,
  });
  const note = (protocol: string, foreign: Item[], problems: string[] = []): void =>
    misfits.note(
      { service: 'main', source: 'inspections', protocols: [protocol] },
      { items: [], malformed: problems.map((problem) => ({ problem, raw: {} })), foreign },
    );
  const round = async (afterMs: number): Promise<void> => {
    at += afterMs;
    await misfits.round('main');
  };
  return { note, round, forwarded, said };
};

const decoy = (n: number, changes: Partial<Item> = {}): Item => makeItem(n, { protocol: 'decoy ', ...changes });

test('it is forwarded for the protocol that lists it, once, when the other one has had its time', async () => {
  const { note, round, forwarded, said } = setUp();
  const item = decoy(1);
  note('Vault', [item, decoy(2, { assessment: 'ok' })]);
  await round(WAIT - 1);
  expect(forwarded).toEqual([]);
  await round(1);
  note('Vault', [item]);
  await round(WAIT);
  expect(forwarded).toEqual([`${item.itemId} Vault`]);
  expect(said).toEqual([expect.stringContaining('- “Vault”: an inspection that names “decoy”\n')]);
});

test('what the other list has is not forwarded, and nothing is said', async () => {
  const { note, round, forwarded, said } = setUp(() => true);
  note('Vault', [decoy(1)]);
  await round(WAIT);
  expect([forwarded, said]).toEqual([[], []]);
});

test('while nobody knows what the other list has, it waits, and holds up no other one', async () => {
  const answers = [undefined, false, false];
  const { note, round, forwarded } = setUp(() => answers.shift());
  note('Farm', [decoy(1)]);
  note('Vault', [decoy(2)]);
  await round(WAIT);
  expect(forwarded).toEqual(['i-2 Vault']);
  await round(WAIT);
  expect(forwarded).toEqual(['i-2 Vault', 'i-1 Farm']);
});

test('of a service that lists each for all, three forward one that its own protocol does not read; all are named', async () => {
  const { note, round, forwarded, said } = setUp();
  for (const name of NAMES.slice(0, 4)) note(name, [decoy(1)]);
  await round(WAIT);
  expect(forwarded).toHaveLength(3);
  for (const name of NAMES.slice(0, 4)) expect(said.join()).toContain(`“${name}”: an inspection`);
});

test('decoys take no room of another protocol, and hide none that comes later', async () => {
  const { note, round, forwarded, said } = setUp();
  note(
    'Farm',
    Array.from({ length: 500 }, (_, n) => decoy(n)),
  );
  await round(WAIT);
  expect([forwarded.length, said.length]).toEqual([20, 1]);
  const real = decoy(999);
  note('Vault', [real]);
  await round(WAIT);
  expect(forwarded.at(-1)).toBe(`${real.itemId} Vault`);
  expect(said[1]).toContain('for “Vault”.');
});

test('what cannot be understood is told with its protocol, and its end an hour after it was last seen', async () => {
  const { note, round, said } = setUp();
  note('Vault', [], ['no assessment']);
  await round(0);
  expect(said).toEqual([expect.stringContaining('- “Vault”: no assessment\n')]);
  note('Vault', [], ['no assessment']);
  await round(HOUR - 1);
  expect(said).toHaveLength(1);
  await round(1);
  expect(said[1]).toContain('no strange inspections for an hour, for “Vault”. (1)');
});
