import { expect, test } from 'vitest';
import { sourceOf } from '../src/networks.ts';

test('an address counts for whom it stands for: one of IPv4, or the network of 64 bits that a subscriber of IPv6 has', () => {
  expect(sourceOf('10.1.2.3')).toBe('10.1.2.3');
  expect(sourceOf('::ffff:10.1.2.3')).toBe('10.1.2.3');
  expect(sourceOf('::ffff:a01:203')).toBe('10.1.2.3');
  const one = sourceOf('2001:db8:1:2::1');
  expect(one).toBe('2001:db8:1:2::/64');
  expect(sourceOf('2001:db8:1:2:ffff:ffff:ffff:ffff')).toBe(one);
  expect(sourceOf('2001:db8:1:3::1')).not.toBe(one);
  expect(sourceOf('fe80::1%eth0')).toBe(sourceOf('fe80::2%eth0'));
  expect([sourceOf(undefined), sourceOf('')]).toEqual(['', '']);
});
