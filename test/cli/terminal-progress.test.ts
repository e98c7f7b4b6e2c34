import { expect, test } from 'vitest';
import { createProgress } from '../../src/cli/terminal.ts';

const CLEAR = '\r\u001b[K';

const setUp = (isErrorTty: boolean) => {
  const written: string[] = [];
  return { written, ...createProgress({ isErrorTty, raw: { warn: (text) => void written.push(text) } }) };
};

test('each text takes the place of the one before, and the line is taken away once', () => {
  const { written, show, end } = setUp(true);
  end();
  show('page 1');
  show('page 2');
  end();
  end();
  expect(written).toEqual([`${CLEAR}page 1`, `${CLEAR}page 2`, CLEAR]);
});

test('nothing is written where no terminal is', () => {
  const { written, show, end } = setUp(false);
  show('page 1');
  end();
  expect(written).toEqual([]);
});
