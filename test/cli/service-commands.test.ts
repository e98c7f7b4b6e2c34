/** The reading commands against the sandbox's service: lists, statistics, settings, notifications. */
import { describe, expect, test } from 'vitest';
import { widthOf } from '../../src/cli/table.ts';
import type { JsonObject } from '../../src/sandbox/json.ts';
import type { SandboxService } from '../../src/sandbox/service/service.ts';
import { HOSTILE_TEXTS } from '../support/hostile.ts';
import { startServiceWorld } from './service-world.ts';

const T0 = Date.parse('2026-11-20T10:00:00.000Z');
const VAULT = ['--protocol', 'Vault'];
const ADDRESS = `0x${'ab'.repeat(20)}`;
const HASH = `0x${'5d'.repeat(32)}`;

const fill = (service: SandboxService, count: number): string[] =>
  Array.from(
    { length: count },
    (_, n) => service.insertInspection({ protocol: 'Vault', createdAt: T0 + n * 1000, assessment: 'critical' })._id,
  );

const idsOf = (items: readonly JsonObject[]): unknown[] => items.map(({ _id }) => _id);

const lastRequest = (service: SandboxService) => {
  const request = service.requests().at(-1);
  if (!request) throw new Error('nothing was asked');
  return request;
};

describe('protocols list', () => {
  test('a row each, with what is set up there and no secret', async () => {
    const { print, service } = await startServiceWorld({
      services: {
        main: [
          {
            name: 'Vault',
            assets: [{ chainId: 1, address: ADDRESS, descriptor: 'Pool' }],
            channels: [
              { name: 'slack', contacts: ['C024BE91L', 'C024BE91M'], url: 'https://hooks.example.com/SECRET' },
              { name: 'pager', contacts: ['x'] },
            ],
            tracking: false,
          },
          { name: 'Ünïcödé 漢字 🏦' },
        ],
      },
    });
    const [head, vault, unicode] = (await print('protocols', 'list')).split('\n');
    const [first, second] = service.protocols();
    expect(head).toMatch(/^PROTOCOL +ID +ASSETS +TRACKED +CHANNELS$/);
    expect(vault?.split(/ {2,}/)).toEqual(['Vault', first?.protocolId, '1', 'no', 'slack 3, pager 1']);
    expect(unicode?.split(/ {2,}/)).toEqual(['Ünïcödé 漢字 🏦', second?.protocolId, '0', 'yes', 'none']);
    const columnOfId = (line = '', id = '') => widthOf(line.slice(0, line.indexOf(id)));
    expect(columnOfId(unicode, second?.protocolId)).toBe(columnOfId(vault, first?.protocolId));
  });

  test('all pages, as the service gave them, with and without assets', async () => {
    const seeds = Array.from({ length: 23 }, (_, n) => ({ name: `Protocol ${n}` }));
    const { json, service } = await startServiceWorld({ services: { main: seeds }, quirks: { maxPageSize: 5 } });
    const listed = await json<JsonObject[]>('protocols', 'list');
    expect(listed.map(({ protocolId }) => protocolId)).toEqual(service.protocols().map((each) => each.protocolId));
    expect(listed.map(({ descriptor }) => descriptor)).toEqual(seeds.map(({ name }) => name));
    expect(listed[0]).toMatchObject({ setttings: { tracking: true }, assets: [] });
    const hidden = await json<JsonObject[]>('protocols', 'list', '--hide-assets');
    expect(hidden).toHaveLength(23);
    expect(hidden[0]).not.toHaveProperty('assets');
  });

  test('none', async () => {
    const { print, json } = await startServiceWorld({ services: { main: [] } });
    expect(await print('protocols', 'list')).toBe('No protocols.\n');
    expect(await json('protocols', 'list')).toEqual([]);
  });
});

describe('inspections list', () => {
  test('every page of a long list, newest first, as one array', async () => {
    const { json, service } = await startServiceWorld({ quirks: { maxPageSize: 7, pageOverlap: 2, firstPage: 0 } });
    const ids = fill(service, 130);
    expect(idsOf(await json<JsonObject[]>('inspections', 'list', ...VAULT, '--all'))).toEqual(ids.toReversed());
    expect(idsOf(await json<JsonObject[]>('inspections', 'list', ...VAULT, '--all', '--sort', 'asc'))).toEqual(ids);
  });

  test('a limit is kept, and what lies beyond is named on standard error', async () => {
    const { run, service } = await startServiceWorld();
    const ids = fill(service, 51);
    const byDefault = await run(['inspections', 'list', ...VAULT, '--json']);
    expect(idsOf(JSON.parse(byDefault.out))).toEqual(ids.slice(1).toReversed());
    expect(byDefault.err).toMatch(
      /^tocsin: there are more inspections than these 50; --all or a higher --limit shows more\n$/,
    );
    expect(lastRequest(service).query.pageSize).toEqual(['51']);
    const asked = await run(['inspections', 'list', ...VAULT, '--json', '--limit', '3']);
    expect(idsOf(JSON.parse(asked.out))).toEqual(ids.slice(-3).toReversed());
    expect(asked.err).toMatch(/more inspections than these 3;/);
    const exactly = await run(['inspections', 'list', ...VAULT, '--json', '--limit', '51']);
    expect(JSON.parse(exactly.out)).toHaveLength(51);
    expect(exactly.err).toBe('');
  });

  test('the limit holds where the service gives smaller pages than asked for', async () => {
    const { run, service } = await startServiceWorld({ quirks: { maxPageSize: 4 } });
    const ids = fill(service, 30);
    const { out, err } = await run(['inspections', 'list', ...VAULT, '--json', '--limit', '10']);
    expect(idsOf(JSON.parse(out))).toEqual(ids.slice(-10).toReversed());
    expect(err).toMatch(/more inspections than these 10;/);
  });

  test('a table with the full hash, the chain by name and what fired', async () => {
    const { print, service } = await startServiceWorld();
    const common = { protocol: 'Vault', txHash: HASH, assessment: 'suspecious' };
    const { _id } = service.insertInspection({
      ...common,
      createdAt: T0,
      chainId: 424242,
      invokedMethodName: 'withdraw',
      detections: {
        mixer: { status: 'notDetected', message: '' },
        flashLoan: { status: 'detected', message: 'x' },
        newContract: { status: 'whatever', message: '' },
      },
    });
    service.insertInspection({ ...common, createdAt: T0 - 1000, chainId: 5, detections: {}, assessment: 'odd' });
    const [head, first, details, second, nothing] = (await print('inspections', 'list', ...VAULT)).split('\n');
    expect(head).toMatch(/^INSPECTED \(UTC\) +ASSESSMENT +CHAIN +TRANSACTION$/);
    expect(first).toMatch(new RegExp(`^2026-11-20 10:00:00  suspicious +Test Chain +${HASH}$`));
    expect(details).toBe(`    ${_id}  withdraw  detected flashLoan, newContract`);
    expect(second).toMatch(new RegExp(`^2026-11-20 09:59:59  odd +5 +${HASH}$`));
    expect(nothing).toMatch(/ {2}nothing detected$/);
  });

  test('every option reaches the service', async () => {
    const { json, service } = await startServiceWorld();
    const place = ['--chain', '8453', '--contract', ADDRESS];
    const what = ['--hash', HASH, '--origin', ADDRESS, '--status', 'suspicious'];
    const lists = ['--id', 'a', 'b,c', '--id', 'd', '--detected', 'mixer', 'flashLoan'];
    const when = ['--since', '2026-11-20T10:00:00+02:00', '--until', '2026-11-21', '--sort', 'asc'];
    for (const command of ['list', 'stats']) {
      await json('inspections', command, ...VAULT, ...place, ...what, ...lists, ...when);
      const { path, query } = lastRequest(service);
      const end = command === 'list' ? 'inspections' : 'inspections/stats';
      expect(path).toBe(`/api/Vault/8453/${ADDRESS}/${end}`);
      const { pageSize, ...asked } = query;
      expect(pageSize).toEqual(command === 'list' ? ['51'] : undefined);
      expect(asked).toEqual({
        id: ['a', 'b,c', 'd'],
        hash: [HASH],
        origin: [ADDRESS],
        status: ['suspecious'],
        detected: ['mixer', 'flashLoan'],
        startDate: ['2026-11-20T08:00:00.000Z'],
        endDate: ['2026-11-21T00:00:00.000Z'],
        sort: ['asc'],
      });
    }
  });

  test('only what the filter lets through', async () => {
    const { json, service } = await startServiceWorld();
    fill(service, 5);
    const old = service.insertInspection({ protocol: 'Vault', createdAt: Date.now() - 7_200_000 });
    const recent = service.insertInspection({ protocol: 'Vault', createdAt: Date.now() - 1000 });
    expect(idsOf(await json('inspections', 'list', ...VAULT, '--since', '3h', '--until', '1h'))).toEqual([old._id]);
    expect(idsOf(await json('inspections', 'list', ...VAULT, '--since', '1h'))).toEqual([recent._id]);
    expect(
      idsOf(await json('inspections', 'list', ...VAULT, '--hash', old.txHash.toUpperCase().replace('X', 'x'))),
    ).toEqual([old._id]);
    expect(await json('inspections', 'list', ...VAULT, '--status', 'critical')).toHaveLength(5);
  });

  test('malformed items are left out and named', async () => {
    const { run, service } = await startServiceWorld();
    const [id] = fill(service, 1);
    service.addFault({ fault: { kind: 'malformed-item', item: { what: 1 } } });
    const { code, out, err } = await run(['inspections', 'list', ...VAULT, '--json']);
    expect({ code, ids: idsOf(JSON.parse(out)) }).toEqual({ code: 0, ids: [id] });
    expect(err).toBe('tocsin: malformed inspections left out: 1 (neither _id nor txHash)\n');
  });

  test('a walk that breaks off says so and is no whole array', async () => {
    const { run, service } = await startServiceWorld({ quirks: { maxPageSize: 5 } });
    fill(service, 20);
    service.addFault({ after: 3, fault: { kind: 'status', status: 503 } });
    const { code, out, err } = await run(['inspections', 'list', ...VAULT, '--all', '--json']);
    expect(code).toBe(75);
    expect(JSON.parse(err)).toMatchObject({
      error: { exitCode: 75, message: expect.stringMatching(/^main: GET inspections of "Vault": 503/) },
    });
    expect(() => JSON.parse(out)).toThrow(SyntaxError);
  });
});

describe('progress of a long walk', () => {
  const walk = async (tty: { out?: boolean; err?: boolean }, ...more: string[]) => {
    const { run, service } = await startServiceWorld({ quirks: { maxPageSize: 5 } });
    fill(service, 20);
    return run(['inspections', 'list', ...VAULT, '--all', ...more], { tty });
  };

  test('is drawn on a terminal and taken away', async () => {
    const { out, err } = await walk({ out: true, err: true });
    expect(err).toContain('inspections: 5 on 1 page so far');
    expect(err).toContain('inspections: 20 on 4 pages so far');
    expect(err.endsWith('\r\u001b[K')).toBe(true);
    expect(err).not.toContain('\n');
    expect(out).not.toContain('\u001b');
  });

  test('is drawn while JSON goes into a file, not between JSON on the same terminal', async () => {
    expect((await walk({ err: true }, '--json')).err).toContain('inspections: 20 on 4 pages');
    expect((await walk({ out: true, err: true }, '--json')).err).toBe('');
  });

  test('is not drawn where no terminal is', async () => {
    expect((await walk({ out: true })).err).toBe('');
  });
});

describe('inspections stats', () => {
  test('for people and as given', async () => {
    const { print, json, service } = await startServiceWorld();
    fill(service, 12);
    service.insertInspection({ protocol: 'Vault', assessment: 'suspecious' });
    expect(await json('inspections', 'stats', ...VAULT)).toEqual({ page: 1, critical: 12, suspicious: 1, total: 13 });
    const lines = (await print('inspections', 'stats', ...VAULT)).trimEnd().split('\n');
    expect(lines.map((line) => line.split(/ +/))).toEqual([
      ['critical', '12'],
      ['suspicious', '1'],
      ['total', '13'],
      ['page', '1'],
    ]);
  });

  test('what is not given is said to be so', async () => {
    const { print, json, service } = await startServiceWorld();
    service.changeQuirks({ stats: 'negative' });
    expect(await print('inspections', 'stats', ...VAULT)).toMatch(/^total +not given$/m);
    expect(await json('inspections', 'stats', ...VAULT)).toMatchObject({ total: -1 });
  });
});

describe('settings', () => {
  const asset = { chainId: 8453, address: ADDRESS, descriptor: 'Pool', admins: [`0x${'cd'.repeat(20)}`] };
  const channels = [
    { name: 'email', contacts: ['oncall@example.com', 'not an address'] },
    { name: 'webhook', url: 'https://hooks.example.com/SECRET' },
  ];

  test('detectors, assets and channels, without what is secret', async () => {
    const { print } = await startServiceWorld({ services: { main: [{ name: 'A/B ?#%', assets: [asset], channels }] } });
    const text = await print('settings', '--protocol', 'A/B ?#%');
    expect(text).toMatch(/^Detectors \(7\)\n {4}adminCall, drasticBalanceChange, /);
    expect(text).toMatch(new RegExp(`^Base +${ADDRESS} +Pool\n {4}admins 0x${'cd'.repeat(20)}$`, 'm'));
    expect(text).toMatch(/^email +oncall@example\.com$/m);
    expect(text).toMatch(/^email +not usable: the email contact "not an address" is no plain address/m);
    expect(text).toMatch(/^webhook +hooks\.example\.com \([0-9a-f]{4}\)$/m);
    expect(text).not.toContain('SECRET');
  });

  test('as given', async () => {
    const { json } = await startServiceWorld({ services: { main: [{ name: 'Vault', assets: [asset], channels }] } });
    expect(await json('settings', ...VAULT, '--show-secrets')).toMatchObject({
      assets: [{ ...asset, chainId: '8453' }],
      notificationChannels: channels,
    });
  });

  test.each([
    ['settings', ['settings', ...VAULT]],
    ['protocols list', ['protocols', 'list']],
  ])('%s as JSON has no secret of a channel, unless it is asked for', async (_name, args) => {
    const secret = [
      { name: 'webhook', url: 'https://hooks.example.com/SECRET?key=SECRET', contacts: ['http://u:SECRET@h.example'] },
      { name: 'email', contacts: ['oncall@example.com', 'bot123456:SECRET', 'see ftp://u:SECRET@h.example/SECRET'] },
    ];
    const { run } = await startServiceWorld({
      services: { main: [{ name: 'Vault', assets: [asset], channels: secret }] },
    });
    const masked = await run([...args, '--json']);
    expect(masked.out).not.toContain('SECRET');
    expect(masked.err).toMatch(/masked.*--show-secrets/);
    expect(masked.out.replace(/\s/g, '')).toMatch(/"url":"https:\/\/hooks\.example\.com\([0-9a-f]{4}\)"/);
    expect(masked.out).toContain('oncall@example.com');
    expect(masked.out).toContain(ADDRESS);
    const shown = await run([...args, '--json', '--show-secrets']);
    expect(shown.out.match(/SECRET/g)).toHaveLength(6);
    expect(shown.err).toBe('');
  });

  test('a masked address cannot be handed back', async () => {
    const { run } = await startServiceWorld({ services: { main: [{ name: 'Vault', assets: [asset], channels }] } });
    const { notificationChannels } = JSON.parse((await run(['settings', ...VAULT, '--json'])).out);
    const args = ['protocols', 'replace-channels', ...VAULT, '--yes', '--channels', '-'];
    const { code, err } = await run(args, { stdin: JSON.stringify(notificationChannels.slice(1)) });
    expect({ code, err }).toEqual({ code: 1, err: expect.stringMatching(/url: is masked.*--show-secrets/) });
  });

  test('none at all', async () => {
    const { print, run, service } = await startServiceWorld();
    service.changeQuirks({ settings: 'empty' });
    expect(await print('settings', ...VAULT)).toBe('Detectors (0)\n\nAssets (0)\n\nChannels (0)\n');
    service.changeQuirks({ settings: 'missing' });
    expect(await run(['settings', ...VAULT])).toMatchObject({ code: 1, out: '' });
  });
});

describe('notifications', () => {
  test('of several protocols, equal messages each, every line of a message', async () => {
    const { print, json, service } = await startServiceWorld({
      services: { main: [{ name: 'Vault' }, { name: 'Bridge' }] },
    });
    for (let time = 0; time < 2; time += 1) {
      service.insertNotification({ protocol: 'Vault', message: 'same', createdAt: T0 });
    }
    service.insertNotification({ protocol: 'Bridge', message: `first line\n\nsecond ${HASH}`, createdAt: T0 + 1000 });
    const both = ['notifications', '--protocol', 'Vault', 'Bridge'];
    expect((await json<JsonObject[]>(...both)).map(({ protocol }) => protocol)).toEqual(['Bridge', 'Vault', 'Vault']);
    const text = await print(...both);
    expect(text.split('\n').map((line) => line.replace(/ {3,}/, '  '))).toEqual([
      'STORED (UTC)  PROTOCOL',
      '2026-11-20 10:00:01  Bridge',
      '  first line',
      '',
      `  second ${HASH}`,
      '2026-11-20 10:00:00  Vault',
      '  same',
      '2026-11-20 10:00:00  Vault',
      '  same',
      '',
    ]);
    expect(await json('notifications', '--protocol', 'Vault', '--since', '2026-11-20T10:00:00Z')).toEqual([]);
  });

  test('sorted, limited and walked like inspections', async () => {
    const { json, run, service } = await startServiceWorld({ quirks: { maxPageSize: 4 } });
    const messages = Array.from({ length: 11 }, (_, n) => `message ${n}`);
    for (const [n, message] of messages.entries()) {
      service.insertNotification({ protocol: 'Vault', message, createdAt: T0 + n });
    }
    const all = await json<JsonObject[]>('notifications', ...VAULT, '--all', '--sort', 'asc');
    expect(all.map(({ message }) => message)).toEqual(messages);
    const { out, err } = await run(['notifications', ...VAULT, '--limit', '2', '--json']);
    expect(JSON.parse(out)).toMatchObject([{ message: 'message 10' }, { message: 'message 9' }]);
    expect(err).toMatch(/more notifications than these 2;/);
  });
});

describe('text from the chain', () => {
  /** What a terminal would act on, or not show. */
  const UNSAFE = /(?!\n)\p{Cc}|\p{Cf}|\p{Cs}|[\u2028\u2029]/u;

  test.each(HOSTILE_TEXTS.map((text) => [text]))('%j changes no table', async (text) => {
    const name = `Protocol ${text}`;
    const asset = { chainId: 1, address: text, descriptor: text, admins: [text] };
    const channels = [{ name: text, contacts: [text], url: text }];
    const { run, service } = await startServiceWorld({ services: { main: [{ name, assets: [asset], channels }] } });
    const print = async (...args: string[]): Promise<string> => (await run(args, { width: 120 })).out;
    const detections = { [text]: { status: text, message: text } };
    const { txHash } = service.insertInspection({ invokedMethodName: text.repeat(40), detections, assessment: text });
    service.insertNotification({ message: text.repeat(100) });
    const named = ['--protocol', name.toWellFormed()];
    const printed = [
      await print('protocols', 'list'),
      ...(text.isWellFormed()
        ? [
            await print('inspections', 'list', ...named),
            await print('settings', ...named),
            await print('notifications', ...named),
          ]
        : []),
    ].join('');
    expect(printed).not.toMatch(UNSAFE);
    if (text.isWellFormed()) expect(printed).toContain(txHash);
    for (const line of printed.split('\n')) expect(widthOf(line)).toBeLessThanOrEqual(120);
  });
});
