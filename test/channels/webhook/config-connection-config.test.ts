import { describe, expect, test } from 'vitest';
import { extraHeaders } from '../../../src/channels/webhook/config.ts';

describe('extra headers', () => {
  const problemOf = (headers: object): string | undefined => {
    const issue = extraHeaders().safeParse(headers).error?.issues[0];
    return issue?.code === 'invalid_key' ? issue.issues[0]?.message : issue?.message;
  };

  test('are lower-cased, with secret values', () => {
    const headers = extraHeaders().parse({ Authorization: 'Bearer a b', 'X-Api-Key': 'k' });
    expect(Object.entries(headers).map(([name, value]) => [name, value.reveal()])).toEqual([
      ['authorization', 'Bearer a b'],
      ['x-api-key', 'k'],
    ]);
    expect(JSON.stringify(headers)).not.toContain('Bearer');
  });

  test.each(['Webhook-Id', 'content-type', 'HOST', 'Transfer-Encoding', 'proxy-authorization', 'te'])(
    '%s is not to be set',
    (name) => expect(problemOf({ [name]: 'x' })).toMatch(/cannot be set here$/),
  );

  test.each<[object, RegExp]>([
    [{ 'two words': 'x' }, /must be a header's name/],
    [{ 'x-a': ' x' }, /must be printable ASCII on one line/],
    [{ 'x-a': 'x\r\nhost: y' }, /must be printable ASCII on one line/],
    [{ 'x-a': 'x', 'X-A': 'y' }, /must not name a header twice/],
  ])('%j is refused', (headers, rule) => expect(problemOf(headers)).toMatch(rule));
});
