import { describe, expect, test } from 'vitest';
import { renderStatusText } from '../../src/cli/status.ts';
import { filledWith, knownOf, MUTE, REPORT, remarkOf, WITH_BROKEN } from '../ops/report.ts';

describe('the status in a terminal', () => {
  test('aligns its columns', () => {
    const text = renderStatusText(REPORT);
    expect(text).toContain(
      [
        'Destinations (1)',
        '  KIND   DESTINATION  WAITING  DELIVERED  DEAD  LAST SUCCESS  LAST ERROR',
        '  slack  C024BE91L          0       1204     0  4 min ago',
      ].join('\n'),
    );
    expect(text).toMatch(/^Tocsin 1\.2\.3 \(0123456789ab\), started 3 d ago, as of 2026-11-21 10:00:00 UTC\n/);
    expect(text.endsWith('\n')).toBe(true);
  });

  test('says that all is well, but only where the page does', () => {
    expect(renderStatusText(REPORT).split('\n').slice(1, 4)).toEqual(['', 'All is well', '']);
    for (const other of [{ remarks: [remarkOf('the webhook is dead')] }, { dead: 1 }, { protocols: [] }]) {
      expect(renderStatusText({ ...REPORT, ...other })).not.toContain('All is well');
    }
  });

  test('shows what is broken first', () => {
    const text = renderStatusText({ ...REPORT, ...WITH_BROKEN });
    expect(text.indexOf('C0BROKEN01')).toBeLessThan(text.indexOf('C024BE91L'));
  });

  test('lets nobody steer the terminal', () => {
    const text = renderStatusText(filledWith('\u001b[2J\u202eevil\nline'));
    // biome-ignore lint/suspicious/noControlCharactersInRegex: their absence is the point
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
    expect(text).toContain('[2Jevil line');
  });

  test('shows what is muted, and until when, where something is', () => {
    expect(renderStatusText(REPORT)).not.toContain('Mutes');
    expect(renderStatusText({ ...REPORT, mutes: [MUTE] })).toContain(
      [
        'Mutes (1)',
        '  MUTE           UNTIL                    HIDES  WHAT                                           REASON',
        '  mute-3f9a2c1b  2026-11-21 11:00:00 UTC     12  protocol Lending*; detectors flashLoan, mixer  upgrade of the pool',
      ].join('\n'),
    );
  });

  test('says how many criticals nobody has acknowledged, and how old the oldest is', () => {
    expect(renderStatusText({ ...REPORT, unacknowledged: { count: 0 } })).not.toContain('acknowledged');
    const unacknowledged = { count: 2, since: '2026-11-21T07:00:00.000Z' };
    const said = 'Nobody has acknowledged yet: 2 critical alerts of the last day, the oldest 3 h ago';
    expect(
      renderStatusText({ ...REPORT, unacknowledged })
        .split('\n')
        .slice(1, 5),
    ).toEqual(['', 'All is well', '', said]);
    const many = { ...unacknowledged, count: 1000, isAtLeast: true };
    expect(renderStatusText({ ...REPORT, unacknowledged: many })).toContain(': at least 1000 critical alerts of ');
    expect(renderStatusText({ ...REPORT, unacknowledged: { count: 0, isAtLeast: true } })).toContain(
      '\n\nNone of the latest critical alerts waits to be acknowledged; the last day has more alerts than are looked at here, so older ones may wait for somebody\n\n',
    );
  });

  test('says below the destinations what hangs on one token', () => {
    const hanging = ['Everything of Vault and the fallback hangs on channels.slack.botToken: list another kind'];
    expect(renderStatusText({ ...REPORT, hanging })).toContain(`\n\n${hanging[0]}.\n\nQueues, in jobs\n`);
  });

  test('shows what is listed and not watched, and why', () => {
    expect(renderStatusText(REPORT)).not.toContain('Not watched');
    const unwatched = [{ service: 'main', name: '..', reason: 'no URL can carry its name' }];
    expect(renderStatusText({ ...REPORT, unwatched })).toContain(
      ['Not watched (1)', '  PROTOCOL  SERVICE  WHY', '  ..        main     no URL can carry its name'].join('\n'),
    );
  });

  test('says what needs attention before everything else', () => {
    const text = renderStatusText({ ...REPORT, remarks: [remarkOf('Vault has no channels')] });
    expect(text.split('\n').slice(2, 6)).toEqual([
      'Needs a look',
      '  Vault has no channels (remark-1a2b3c4d)',
      '    To do: correct the channel',
      '  One that may stay so: tocsin known add remark-1a2b3c4d --reason TEXT --until 30d',
    ]);
  });

  test('shows what somebody knows of apart, and says that all is well', () => {
    const text = renderStatusText({ ...REPORT, known: [knownOf('Vault has no channels', 'Ann')] });
    expect(text.split('\n').slice(2, 7)).toEqual([
      'All is well',
      '',
      'Known, and not counted (1)',
      '  Vault has no channels (remark-1a2b3c4d)',
      '    until 2026-12-20 10:00:00 UTC, by Ann: Ann',
    ]);
  });

  test('shows the whole error of a service and of a destination, however long', () => {
    const lastError = `refused: ${'x'.repeat(300)}`;
    const text = renderStatusText({
      ...REPORT,
      services: [{ name: 'main', up: false, state: 'fails', lastError }],
      destinations: REPORT.destinations.map((one) => ({ ...one, lastError })),
    });
    expect(text.split(lastError)).toHaveLength(3);
  });
});
