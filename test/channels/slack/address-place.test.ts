import { expect, test } from 'vitest';
import { formatPlace, parsePlace } from '../../../src/channels/slack/address.ts';

const FIRST = { channel: 'C024BE91L', ts: '1732097251.002', thread: '1732097251.002' };
const REPLY = { ...FIRST, ts: '1732097300.1' };

test.each([
  [FIRST, 'C024BE91L/1732097251.002'],
  [REPLY, 'C024BE91L/1732097300.1/1732097251.002'],
])('%j is %j and back', (place, handle) => {
  expect(formatPlace(place)).toBe(handle);
  expect(parsePlace(handle)).toEqual(place);
});

test.each(['', 'C024BE91L', 'C024BE91L/1732097251', '#alerts/1.2', 'C024BE91L/1.2/', '<id@example.com>'])(
  '%j is no handle of ours',
  (handle) => expect(parsePlace(handle)).toBeUndefined(),
);
