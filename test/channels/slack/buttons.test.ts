/** Who has acknowledged a message, and the answer to a press, which has to fit into what Slack takes. */
import { describe, expect, test } from 'vitest';
import { GREY, LIMITS, type SlackBody } from '../../../src/channels/slack/blocks.ts';
import { answerTo, type Pressed, responseOf, slackButtons } from '../../../src/channels/slack/buttons.ts';
import { noteOf } from '../../../src/features/acknowledgement/words.ts';

const PRESSED: Pressed = {
  ...{ appId: 'A1', team: 'T1', user: 'U1', name: 'ann', channel: 'C1', ts: '1.1', thread: undefined },
  ...{ button: 'mute', token: 'x', responseUrl: '' },
};

test.each([
  ['to the person', (text: string) => answerTo(PRESSED, text)],
  ['to the URL of the press', (text: string) => responseOf(text)],
])('%s', (_where, answer) => {
  const { blocks } = answer(`Muted until noon: ${'<pool> & '.repeat(2000)}`) as {
    blocks: { text: { type: string; text: string } }[];
  };
  const { type = '', text = '' } = blocks[0]?.text ?? {};
  expect(type).toBe('plain_text');
  expect(text).toMatch(/^Muted until noon: &lt;pool&gt; &amp; /);
  expect(text.length).toBeLessThanOrEqual(LIMITS.section);
  expect(text).toMatch(/…$/);
});

describe('a message that somebody has acknowledged', () => {
  const AT = Date.parse('2026-11-20T02:45:10Z');
  const acknowledged = (by: string, to: string, of = 1) => ({
    ...{ token: 'A'.repeat(22), buttons: [{ name: 'mute' as const, label: 'Mute these detectors 1h' }] },
    ...noteOf([{ by, via: 'slack', to, at: new Date(AT).toISOString() }], {
      of,
      since: AT - 62_000,
      nameOf: () => undefined,
    }),
  });
  const body: SlackBody = {
    text: '🔴 CRITICAL · Pool &amp; A: “x”',
    blocks: [
      { type: 'header', text: { type: 'plain_text', text: '🔴 CRITICAL · Pool &amp; A', emoji: false } },
      { type: 'section', text: { type: 'plain_text', text: 'said', emoji: false } },
    ],
    attachments: [{ color: '#d92d20', blocks: [] }],
  };

  test('says who, where people look first, then when and where; the bar is grey, and what can still be pressed stays', () => {
    const put = slackButtons.put(body, acknowledged('Ann', '#alerts'));
    expect(put.text).toBe('👀 Ann is on it · CRITICAL · Pool &amp; A: “x”');
    expect(put.blocks?.map(({ type }) => type)).toEqual(['header', 'context', 'section', 'actions']);
    expect(put.blocks?.[0]).toMatchObject({ text: { text: '👀 Ann is on it · CRITICAL · Pool &amp; A' } });
    expect(put.blocks?.[1]).toMatchObject({
      elements: [
        { type: 'plain_text', text: 'Acknowledged' },
        { type: 'mrkdwn', text: `<!date^${AT / 1000}^{time_secs}|02:45:10 UTC>` },
        { type: 'plain_text', text: 'on Slack channel #alerts · 62 s after the alert' },
      ],
    });
    expect(put.attachments).toEqual([{ color: GREY, blocks: [] }]);
    expect(JSON.stringify(put.blocks)).toContain('Mute these detectors 1h');
  });

  test('of which some is not acknowledged keeps its title and its colour', () => {
    const put = slackButtons.put(body, acknowledged('Ann', '#alerts', 2));
    expect(put).toMatchObject({ text: body.text, attachments: body.attachments });
    expect(put.blocks?.[0]).toEqual(body.blocks?.[0]);
    expect(put.blocks?.[1]).toMatchObject({
      elements: [{ text: '👀 Ann is on 1 of 2 alerts · nobody on the other yet ·' }, {}, {}],
    });
  });

  test('a name and a label are no markup, call nobody, and of several words they stand in quotes', () => {
    const put = slackButtons.put(body, acknowledged('🟢 all · is *well* <!channel>', '<!here> _x_'));
    const [title, note] = put.blocks ?? [];
    expect(title).toMatchObject({
      text: { type: 'plain_text', text: '👀 “all - is *well* &lt;!channel&gt;” is on it · CRITICAL · Pool &amp; A' },
    });
    expect(note).toMatchObject({
      elements: [{}, {}, { type: 'plain_text', text: expect.stringContaining('&lt;!here&gt; _x_') }],
    });
    expect(put.text).not.toContain('<!channel>');
  });

  test('a title that has no room for it in a header is a section', () => {
    const text = `🔴 CRITICAL · ${'x'.repeat(130)}`;
    const long: SlackBody = { text, blocks: [{ type: 'header', text: { type: 'plain_text', text, emoji: false } }] };
    expect(slackButtons.put(long, acknowledged('Ann', '#alerts')).blocks?.[0]).toMatchObject({ type: 'section' });
  });
});
