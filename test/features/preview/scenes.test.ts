/** The scenes that previews, pictures and tests share. */
import { describe, expect, test } from 'vitest';
import { ANNOUNCEMENTS, CHANGES } from '../../../src/alert.ts';
import { SCENES } from '../../../src/features/preview/scenes.ts';

const typesShown = new Set(SCENES.flatMap(({ alerts }) => alerts().map(({ type }) => type)));

describe('the scenes', () => {
  test('have a name of their own, and say something', () => {
    expect(new Set(SCENES.map(({ name }) => name)).size).toBe(SCENES.length);
    for (const { says, group } of SCENES) expect([says, group].every((text) => text !== '')).toBe(true);
  });

  test('show every kind of message', () => {
    const types = [
      ...ANNOUNCEMENTS.map((about) => `tocsin.${about}`),
      ...CHANGES.map((change) => `inspection.${change}`),
      ...['inspection.critical', 'inspection.suspecious', 'notification.created', 'test.sample'],
    ];
    expect(types.filter((type) => !typesShown.has(type))).toEqual([]);
  });

  test.each(SCENES.map(({ name, alerts }) => [name, alerts] as const))('%s is always the same', (_name, alerts) => {
    const made = alerts();
    expect(made.length).toBeGreaterThan(0);
    expect(alerts()).toEqual(made);
    expect(new Set(made.map(({ id }) => id)).size).toBe(made.length);
  });
});
