import { expect, test } from 'vitest';
import { muteFacts, scopeText } from '../src/alert.ts';

const NOTHING = { protocols: [], detectors: [], destinations: [] };

test.each([
  [
    { protocols: ['Lending Pool'], detectors: ['flashLoan', 'mixer'] },
    'protocol “Lending Pool”; detectors flashLoan, mixer',
  ],
  [{ destinations: ['C1', 'C2'] }, 'destinations C1, C2'],
  [{ protocols: ['a\nb'] }, 'protocol “a b”'],
])('%j reads %j', (scope, text) => expect(scopeText({ ...NOTHING, ...scope })).toBe(text));

test('the log names a mute by its id, scope, reason and end', () => {
  const mute = { ...NOTHING, id: 'mute-1', protocols: ['Vault'], reason: 'upgrade', from: 'x', until: 'y' };
  expect(muteFacts(mute)).toEqual({ mute: 'mute-1', what: 'protocol Vault', reason: 'upgrade', until: 'y' });
});
