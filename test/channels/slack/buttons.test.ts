/** The answer to a press fits into what Slack takes, or nobody would read it. */
import { expect, test } from 'vitest';
import { LIMITS } from '../../../src/channels/slack/blocks.ts';
import { answerTo, type Pressed, responseOf } from '../../../src/channels/slack/buttons.ts';

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
