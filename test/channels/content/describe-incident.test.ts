import { describe, expect, test } from 'vitest';
import type { Alert } from '../../../src/alert.ts';
import { type Content, lineText } from '../../../src/channels/content/content.ts';
import { describe as describeAlert, describeIncident } from '../../../src/channels/content/describe.ts';
import { createPresentation } from '../../../src/channels/content/presentation.ts';
import { atOnce } from '../../../src/chunks.ts';
import { inspectionAlert, notificationAlert } from '../../support/alerts.ts';

const wording = { presentation: createPresentation(), sentAt: Date.parse('2026-11-20T10:07:55.000Z') };
const incident = (...alerts: Alert[]): Content => atOnce(describeIncident(alerts, wording));

const fired = (message: string) => ({ status: 'detected', message });
const of = (protocol: string, item: Alert['item'] = {}, changes: Partial<Alert> = {}): Alert =>
  inspectionAlert({ item: { _id: `id of ${protocol}`, ...item }, protocol, ...changes });

describe('an incident', () => {
  test('of one alert is described like the alert', () => {
    for (const alert of [inspectionAlert(), notificationAlert('x')]) {
      expect(incident(alert)).toEqual(describeAlert(alert, wording));
    }
  });

  test('of six protocols says how many, and has a line for each: the worst first, then who came first', () => {
    const names = ['A', 'B', 'C', 'D', 'E', 'F'];
    const content = incident(
      ...names.map((name, index) => of(name, { assessment: index === 3 ? 'critical' : 'suspecious' })),
    );
    expect(content).toMatchObject({
      title: '🔴 CRITICAL · 6 protocols · one transaction',
      where: '6 protocols · one transaction',
      protocols: 6,
    });
    expect(content.gist.map(({ name }) => name)).toEqual([
      'D',
      ...['A', 'B', 'C', 'E', 'F'].map((name) => `${name} (suspicious)`),
    ]);
    expect(content.detections.map(({ name }) => name)).toEqual(['Flash loan', 'Drastic balance change']);
    expect(content.lines.map(lineText)).toEqual(['0x5d1c…ab12 on Base · from 0x7e7e…7e7E']);
  });

  test('has in its details what is of each protocol, below its name', () => {
    const { details } = incident(of('A', { invokedMethodName: 'sweep' }), of('B'));
    expect(details.flatMap(({ isOfOne, label, value }) => (isOfOne ? [`${label} ${value}`] : []))).toEqual([
      'Protocol A',
      'Method sweep',
      `Contract 0x${'ABaBaBaBABabABabAbAbABAbABabababaBaBABaB'}`,
      'Inspection id of A',
      'Protocol B',
      'Method liquidateCall',
      `Contract 0x${'ABaBaBaBABabABabAbAbABAbABabababaBaBABaB'}`,
      'Inspection id of B',
    ]);
    expect(details[0]?.label).toBe('Transaction');
  });

  test('that was assessed again says what it is now and was', () => {
    const now = (protocol: string, is?: string) =>
      of(protocol, {}, { reassessed: { was: 'critical', ...(is === undefined ? {} : { is }) } });
    expect(incident(now('A', 'ok'))).toMatchObject({ title: '🟢 OK (was CRITICAL) · A · Lending vault', tone: 'calm' });
    expect(incident(now('A')).title).toBe('🔵 NO LONGER LISTED (was CRITICAL) · A · Lending vault');
    expect(incident(now('A', 'ok'), now('B', 'ok'))).not.toHaveProperty('notice');
    expect(incident(now('A', 'suspecious'), now('B'), of('C'))).toMatchObject({
      title: '🔴 CRITICAL · 3 protocols · one transaction',
      notice:
        'A: now SUSPICIOUS (was CRITICAL). B: now NO LONGER LISTED (was CRITICAL). This does not mean that nothing happened: check the transaction.',
    });
  });

  test('a detection that holds for some of them names these', () => {
    const content = incident(
      of('A', { detections: { flashLoan: fired('Same words') } }),
      of('B', { detections: { flashLoan: fired('Same words'), mixer: fired('Only here') } }),
    );
    expect(content.detections.map(({ name, message }) => [name, message])).toEqual([
      ['Flash loan', 'Same words'],
      ['Mixer (B)', 'Only here'],
    ]);
  });

  test('an origin that is an admin somewhere is an admin; one that is unknown somewhere is not called none', () => {
    const lines = (...contexts: Alert['context'][]): string =>
      incident(...contexts.map((context, index) => of(`P${index}`, {}, context ? { context } : {})))
        .lines.map(lineText)
        .join('\n');
    expect(lines({ adminOf: [] }, { adminOf: ['Vault'] })).toContain('an admin of Vault');
    expect(lines({ adminOf: [] }, { adminOf: [] })).toContain('not an admin');
    expect(lines({ adminOf: [] }, undefined)).not.toContain('admin');
  });

  test('is the first alert of an origin only if it is for each protocol', () => {
    const first = (origin: boolean) => ({ context: { first: { since: '2026-10-01T00:00:00.000Z', origin } } });
    const said = (...known: boolean[]): string =>
      incident(...known.map((one, index) => of(`P${index}`, {}, first(one)))).details.find(
        ({ label }) => label === 'Sender',
      )?.note ?? '';
    expect(said(true, true)).toContain('first alert in 50 days');
    expect(said(true, false)).not.toContain('first');
  });

  test('says what each of its alerts says besides', () => {
    const content = incident(of('A', {}, { notice: 'Nobody took it.' }), of('B', {}, { notice: 'Nobody took it.' }));
    expect(content.notice).toBe('Nobody took it.');
  });
});

describe('several announcements of one kind', () => {
  const announcement = (message: string): Alert =>
    notificationAlert(message, { type: 'tocsin.destination.broken', protocol: 'Tocsin' });

  test('are one text, whole if they are few', () => {
    const content = incident(announcement('One is broken.\nTo do: a'), announcement('Two is broken.\nTo do: b'));
    expect(content.title).toBe('❗ Tocsin: 2 messages');
    expect(content.headline).toBe('❗ Tocsin: 2 messages, the first: One is broken.');
    expect(content.message).toBe('One is broken.\nTo do: a\n\nTwo is broken.\nTo do: b');
  });

  test('are a list of first lines if they are many', () => {
    const content = incident(...Array.from({ length: 6 }, (_, index) => announcement(`${index} is broken.\nTo do`)));
    expect(content.message).toMatch(/^- 0 is broken\.\n- 1 is broken\..*Now: tocsin status$/s);
  });
});
