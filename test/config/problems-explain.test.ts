import { expect, test } from 'vitest';
import { z } from 'zod';
import { explain, ruleOf, type Subject } from '../../src/config/problems.ts';

const SECTION = z.strictObject({
  level: z.enum(['info', 'debug']).optional(),
  interval: z.string().optional(),
  many: z.array(z.int().min(2).max(9)).min(1).optional(),
});

/** As the loader has it: the schema's own sentences come from `ruleOf`. */
const explained = (value: unknown, subject: Partial<Subject> = {}) => {
  const { error } = SECTION.safeParse(value, { error: ruleOf });
  return (error?.issues ?? []).flatMap((issue) => explain(issue, { value, knownKeys: [], ...subject }));
};

test('an unknown key is named with the nearest that may stand there and does not yet', () => {
  const value = { intervall: 1, levl: 2, interval: 'x' };
  expect(explained(value, { knownKeys: ['level', 'interval', 'many'] })).toEqual([
    { path: ['intervall'], rule: 'is not a known key', at: 'key', isUnknown: true },
    { path: ['levl'], rule: 'is not a known key; did you mean level?', at: 'key', isUnknown: true },
  ]);
});

test('a word that is none of the choices is answered with the choices, and the nearest', () => {
  const rule = 'must be one of info, debug';
  expect(explained({ level: 'dbug' }, { value: 'dbug' })).toEqual([
    { path: ['level'], rule: `${rule}; did you mean debug?`, at: 'value' },
  ]);
  expect(explained({ level: 7 }, { value: 7 })).toEqual([{ path: ['level'], rule, at: 'value' }]);
});

test.each<[unknown, object]>([
  ['x', { path: [], rule: 'must be a map', at: 'value', isKind: true }],
  [{ interval: 7 }, { path: ['interval'], rule: 'must be a text (put quotes around digits)', isKind: true }],
  [{ many: 7 }, { path: ['many'], rule: 'must be a list', isKind: true }],
  [{ many: [] }, { path: ['many'], rule: 'must have at least 1 entry', at: 'value' }],
  [{ many: [1] }, { path: ['many', 0], rule: 'must be at least 2', at: 'value' }],
  [{ many: [10] }, { path: ['many', 0], rule: 'must be at most 9', at: 'value', isKind: true }],
  [{ many: [2.5] }, { path: ['many', 0], rule: 'must be a whole number', isKind: true }],
])('%j', (value, explanation) => expect(explained(value)).toMatchObject([explanation]));
