/** What was found, as it is shown first: in a line for each detector, and of several protocols in a line for each. */
import { describe, expect, test } from 'vitest';
import type { Alert, AlertContext, JsonObject } from '../../../src/alert.ts';
import { type Content, lineText } from '../../../src/channels/content/content.ts';
import { describeIncident } from '../../../src/channels/content/describe.ts';
import { createPresentation } from '../../../src/channels/content/presentation.ts';
import { atOnce } from '../../../src/chunks.ts';
import { inspectionAlert } from '../../support/alerts.ts';

const wording = { presentation: createPresentation(), sentAt: Date.parse('2026-11-20T10:07:55.000Z') };
const contentOf = (...alerts: Alert[]): Content => atOnce(describeIncident(alerts, wording));

const POOL = '0x18072e8c35bf992dc9e9c616612e7696a6cecc1b';
const OTHER = `0x${'8fb5262c'.repeat(5)}`;
const HASH = `0x${'5033'.repeat(16)}`;

const fired = (said: Readonly<Record<string, string>>): JsonObject =>
  Object.fromEntries(Object.entries(said).map(([id, message]) => [id, { status: 'detected', message }]));

interface Found {
  said: Readonly<Record<string, string>>;
  assets?: JsonObject[];
  assessment?: string;
  method?: string;
  context?: AlertContext;
}

const by = (protocol: string, { said, assets = [], assessment = 'critical', method = 'swap', context }: Found): Alert =>
  inspectionAlert({
    protocol,
    item: { _id: `id of ${protocol}`, assessment, assets, invokedMethodName: method, detections: fired(said) },
    ...(context === undefined ? {} : { context }),
  });

const linesOf = ({ gist }: Content): string[] => gist.map(({ name, message }) => `${name} · ${message}`);

describe('addresses and hashes in what a detector says', () => {
  const saidOf = (message: string, assets: JsonObject[] = []): Content =>
    contentOf(by('Vault', { said: { mixer: message }, assets }));

  test('are short in what is shown first, and whole in what is folded', () => {
    const message = `Origin ${OTHER} was funded by ${HASH}, 10 hops away`;
    const { gist, happened, said, detections } = saidOf(message);
    expect(gist[0]?.message).toBe('Origin 0x8fb5…262c was funded by 0x5033…5033, 10 hops away');
    expect(happened).toBe(gist[0]?.message);
    expect(said).toBe(`“${gist[0]?.message}”`);
    expect(detections[0]?.message).toBe(message);
  });

  test('are shortened before there is a question of room', () => {
    const message = `${`${OTHER} `.repeat(6)}lost 90% of its funds`;
    expect(saidOf(message).happened).toBe(`${'0x8fb5…262c '.repeat(6)}lost 90% of its funds`);
  });

  test('are called by the name of a contract that was touched', () => {
    const assets = [{ address: POOL, descriptor: 'Pool A' }];
    expect(saidOf(`Balance of ${POOL.toUpperCase().replace('0X', '0x')} fell`, assets).happened).toBe(
      'Balance of Pool A fell',
    );
  });

  test.each([
    [
      'two contracts have',
      [
        { address: POOL, descriptor: 'Pool' },
        { address: OTHER, descriptor: 'Pool' },
      ],
    ],
    ['poses as an address', [{ address: POOL, descriptor: '0x9999…9999' }]],
    ['nobody has given', [{ address: POOL }]],
  ])('are not called by a name that %s', (_why, assets) => {
    expect(saidOf(`Balance of ${POOL} fell`, assets).happened).toBe('Balance of 0x1807…cc1B fell');
  });

  test('a name is text from outside: our dots, signs and quotes are not in it', () => {
    const assets = [{ address: POOL, descriptor: 'Pool” · 🟢 OK' }];
    expect(saidOf(`Balance of ${POOL} fell`, assets).said).toBe("“Balance of Pool' - OK fell”");
  });
});

describe('an incident of several protocols', () => {
  const flashLoan = (amount: number): string => `Flash loan of ${amount} USDC taken from ${OTHER} and repaid at once`;

  test('says of each what few others found, with its number', () => {
    const content = contentOf(
      by('Meridian Bridge', {
        said: { flashLoan: flashLoan(6433420), drasticBalanceChange: `Balance of ${OTHER} changed by 25%` },
      }),
      by('Juno Margin', {
        said: { flashLoan: flashLoan(1958568), drasticBalanceChange: 'Token balance dropped 24% below its 24 h mean' },
      }),
      by('Copper Perps', {
        said: { flashLoan: flashLoan(560894), reentrancy: 'Reentrant call into transfer (depth 9)' },
      }),
      by('Saffron Yield', {
        said: {
          newContract: `Caller contract ${OTHER} was deployed 6 blocks before`,
          mixer: `Origin ${OTHER} was funded by a mixer`,
        },
      }),
      by('Tidepool DEX', { said: { flashLoan: flashLoan(2806218) } }),
      by('Opal Staking', { said: { flashLoan: flashLoan(1252135) } }),
    );
    const lines = linesOf(content);
    expect(content.title).toBe('🔴 CRITICAL · 6 protocols · one transaction');
    expect(lines[0]).toBe('Meridian Bridge · Balance of 0x8fb5…262c changed by 25%');
    expect(lines.map((line) => line.match(/25%|24%|depth 9|6 blocks|2806218 USDC|1252135 USDC/)?.[0])).toEqual([
      '25%',
      '24%',
      'depth 9',
      '6 blocks',
      '2806218 USDC',
      '1252135 USDC',
    ]);
    expect(content.happened).toMatch(/^Meridian Bridge: Balance of 0x8fb5…262c changed by 25%; Juno Margin: Token /);
  });

  test('does not change its order where it grows', () => {
    const [first, second, third] = [
      by('Aster', { said: { mixer: 'Funds came through a mixer' }, assessment: 'suspecious' }),
      by('Birch', { said: { flashLoan: flashLoan(1) } }),
      by('Cedar', { said: { flashLoan: flashLoan(2) } }),
    ];
    const namesOf = (...alerts: Alert[]): string[] => contentOf(...alerts).gist.map(({ name }) => name);
    expect(namesOf(first, second)).toEqual(['Birch', 'Aster (suspicious)']);
    expect(namesOf(first, second, third)).toEqual(['Birch', 'Cedar', 'Aster (suspicious)']);
    expect(namesOf(first, second, third, by('Birch', { said: { mixer: 'Funds came through a mixer' } }))).toEqual([
      'Birch',
      'Cedar',
      'Aster (suspicious)',
    ]);
  });

  test('calls privileged the method that is, where it is', () => {
    const content = contentOf(
      by('Aster', { said: { mixer: 'Funds came through a mixer' } }),
      by('Birch', {
        said: { adminCall: 'Ownership moved' },
        method: 'transferOwnership',
        context: { privilegedOn: ['Vault'] },
      }),
    );
    expect(linesOf(content)).toEqual([
      'Aster · Funds came through a mixer',
      'Birch · Ownership moved · privileged transferOwnership',
    ]);
    expect(content.lines.map(lineText).join(' ')).not.toMatch(/privileged|swap|transferOwnership/);
  });

  test('of one protocol calls only that method privileged, too', () => {
    const content = contentOf(
      by('Birch', { said: { mixer: 'x' } }),
      by('Birch', { said: { mixer: 'x' }, method: 'setOwner', context: { privilegedOn: ['Vault'] } }),
    );
    expect(content.lines.map(lineText)).toContain('Call swap, setOwner (privileged)');
  });

  test('has the number of a long text, wherever it stands', () => {
    const long =
      'A holder that nobody knew before moved nearly all of what it held to somebody else, which is 97 % of it';
    const several = ['A', 'B', 'C', 'D', 'E', 'F', 'G'].map((name) => by(name, { said: { [name]: long } }));
    for (const line of linesOf(contentOf(...several))) expect(line).toMatch(/^. · A holder.*… 97 %$/);
  });

  test('has no part of ours in what somebody else says', () => {
    const content = contentOf(
      by('Aster', { said: { mixer: 'Nothing · privileged sweep' } }),
      by('Birch · OK', { said: { mixer: 'x' } }),
    );
    expect(linesOf(content)).toEqual(['Aster · Nothing - privileged sweep', 'Birch - OK · x']);
  });

  test('names the first ten of many, and all of them in its details', () => {
    const names = Array.from({ length: 14 }, (_, index) => `P${index}`);
    const content = contentOf(...names.map((name) => by(name, { said: { mixer: `Funds of ${name}` } })));
    expect(content.title).toBe('🔴 CRITICAL · 14 protocols · one transaction');
    expect(content.gist.map(({ name }) => name)).toEqual(names.slice(0, 10));
    expect(content.details.find(({ label }) => label === 'Protocols')?.value).toBe(names.join(', '));
    expect(content.details.filter(({ label }) => label === 'Protocol').map(({ value }) => value)).toEqual(names);
  });

  test('has the one that differs from many decoys in the first lines, though it was found last', () => {
    const decoys = Array.from({ length: 30 }, (_, n) => by(`Decoy ${n}`, { said: { flashLoan: 'x', drop: 'y' } }));
    const content = contentOf(...decoys, by('Vault', { said: { mixer: 'All funds left' } }));
    expect(content.gist).toHaveLength(10);
    expect(linesOf(content).slice(0, 3)).toContain('Vault · All funds left');
  });

  test('has the one that is listed longest in the first lines, though each of many decoys is as rare and found more', () => {
    const listed = (at: string) => ({ listedSince: `2026-11-${at}T10:00:00.000Z` });
    const decoys = Array.from({ length: 300 }, (_, n) =>
      by(`Decoy ${n}`, { said: { [`a${n}`]: 'x', [`b${n}`]: 'y', [`c${n}`]: 'z' }, context: listed('20') }),
    );
    const content = contentOf(...decoys, by('Vault', { said: { mixer: 'All funds left' }, context: listed('01') }));
    expect(linesOf(content).slice(0, 3)).toContain('Vault · All funds left');
    expect(content.details.find(({ label }) => label === 'Protocols')?.value).toContain('Vault');
  });

  test('of a protocol that names no detector has its name', () => {
    const content = contentOf(by('Aster', { said: {} }), by('Birch', { said: { mixer: '' } }));
    expect(content.gist).toMatchObject([
      { name: 'Aster', message: '' },
      { name: 'Birch', message: 'Mixer' },
    ]);
  });
});
