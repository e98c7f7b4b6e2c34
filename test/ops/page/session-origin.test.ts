/** Whether a form was sent by a page of ours, by what browsers say. */
import { expect, test } from 'vitest';
import { isFromElsewhere, isOwnForm } from '../../../src/ops/page/session.ts';

test('a form of ours comes from the host that it asks for', () => {
  const host = '127.0.0.1:9464';
  const isOwn = (headers: Record<string, string>, publicUrl?: string) => isOwnForm({ host, ...headers }, publicUrl);
  expect(isOwn({ origin: 'http://127.0.0.1:9464' })).toBe(true);
  expect(isOwn({ origin: 'http://127.0.0.1:9464', 'sec-fetch-site': 'same-origin' })).toBe(true);
  expect(isOwn({ origin: 'http://127.0.0.1:9465' })).toBe(false);
  expect(isOwn({ origin: 'http://127.0.0.1:9464', 'sec-fetch-site': 'cross-site' })).toBe(false);
  expect(isOwn({ origin: 'http://127.0.0.1:9464', 'sec-fetch-site': 'none' })).toBe(false);
  expect(isOwn({})).toBe(false);
  expect(isOwn({ origin: 'null' })).toBe(false);
  expect(isOwn({ origin: 'file://' })).toBe(false);
});

test('behind a proxy it comes from the public URL', () => {
  const headers = { host: 'tocsin.internal:9464', origin: 'https://tocsin.example.com' };
  expect(isOwnForm(headers, 'https://tocsin.example.com/')).toBe(true);
  expect(isOwnForm(headers, 'http://tocsin.example.com/')).toBe(false);
  expect(isOwnForm(headers, undefined)).toBe(false);
});

test('what another site asks for comes from elsewhere', () => {
  expect(
    [undefined, 'same-origin', 'none'].map((site) => isFromElsewhere(site ? { 'sec-fetch-site': site } : {})),
  ).toEqual([false, false, false]);
  expect(['same-site', 'cross-site'].map((site) => isFromElsewhere({ 'sec-fetch-site': site }))).toEqual([true, true]);
});
