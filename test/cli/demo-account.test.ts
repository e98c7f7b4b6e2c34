/** The demo's account of what happens: lines that a stranger understands. */
import { expect, test } from 'vitest';
import { createAccount, FALLBACK } from '../../src/cli/demo-account.ts';

test('an announcement to the fallback says what it is, and an alert there which one', () => {
  const written: string[] = [];
  const output = { write: (text: string) => written.push(text), warn: () => {} };
  const account = createAccount({ isTty: false, raw: output });
  const message = { type: 'received' as const, kind: 'email' as const, at: 1, ids: [], destination: FALLBACK };
  const hash = `0x${'ab'.repeat(32)}`;
  account.print({ ...message, text: 'Tocsin: Slack C1 takes no alerts\nthe rest', txHashes: [] });
  account.print({ ...message, text: `CRITICAL ${hash}`, txHashes: [hash] });
  account.print({ ...message, text: 'Re: Tocsin: Slack C1 works again\nthe rest', txHashes: [] });
  const lines = written.filter((line) => line.includes(FALLBACK)).map((line) => line.slice(14).trimEnd());
  expect(lines).toEqual([
    `email     announced    ${FALLBACK} Tocsin: Slack C1 takes no alerts`,
    `email     fallback     ${FALLBACK} 0xabababab…ababab`,
    `email     announced    ${FALLBACK} Re: Tocsin: Slack C1 works again`,
  ]);
  const shown = written.filter((line) => line.includes('this is'));
  expect(shown.map((line) => line.replace(/^.*this is /, '').trimEnd())).toEqual([
    "an announcement of Tocsin's own, as email has it:",
    'an alert that went to the fallback, as email has it:',
  ]);
});
