import { describe, expect, test } from 'vitest';
import { type InspectionOptions, inspectionQuery, periodOf } from '../../src/cli/inspections.ts';

const NOW = Date.parse('2026-11-20T12:00:00Z');
const ADDRESS = `0x${'aB'.repeat(20)}`;
const HASH = `0x${'0f'.repeat(32)}`;
const query = (options: Partial<InspectionOptions>) => inspectionQuery({ protocol: 'Vault', ...options }, NOW);

test('options become the query, as the service names it', () => {
  expect(
    query({
      chain: '8453',
      contract: ADDRESS,
      id: ['i-1'],
      hash: HASH,
      origin: ADDRESS,
      status: 'suspicious',
      detected: ['mixer'],
      since: '2h',
      until: '2026-11-20T11:30:00Z',
      sort: 'dsc',
    }),
  ).toEqual({
    protocol: 'Vault',
    chainId: '8453',
    contractAddress: ADDRESS,
    id: ['i-1'],
    hash: HASH,
    origin: ADDRESS,
    status: 'suspecious',
    detected: ['mixer'],
    startDate: NOW - 7_200_000,
    endDate: NOW - 1_800_000,
    sort: 'dsc',
  });
  expect(Object.values(query({})).filter((value) => value !== undefined)).toEqual(['Vault']);
});

describe('nothing is asked for', () => {
  test.each<[Partial<InspectionOptions>, string]>([
    [{ chain: '0x1' }, "--chain must be a chain id in decimal digits (got '0x1')"],
    [{ contract: ADDRESS }, '--contract needs --chain beside it'],
    [{ chain: '1', contract: '0xabc' }, "--contract must be an address: 0x and 40 hex digits (got '0xabc')"],
    [{ origin: HASH }, `--origin must be an address: 0x and 40 hex digits (got '${HASH}')`],
    [{ hash: ADDRESS }, `--hash must be a transaction hash: 0x and 64 hex digits (got '${ADDRESS}')`],
    [{ id: ['i-1', ' '] }, '--id is empty'],
    [{ detected: [''] }, '--detected is empty'],
    [{ sort: 'desc' }, "--sort must be asc or dsc (got 'desc')"],
    [{ since: '1h', until: '2h' }, '--since must be before --until'],
    [{ since: '1h', until: '1h' }, '--since must be before --until'],
  ])('%j', (options, message) => {
    expect(() => query(options)).toThrow(expect.objectContaining({ name: 'UsageError', message }));
  });

  test('a status that nobody knows is answered with those there are', () => {
    expect(() => query({ status: 'bad' })).toThrow(/^--status must be one of .*critical.* \(got 'bad'\)$/);
  });
});

test('a period may be open at both ends', () => {
  expect(periodOf({}, NOW)).toEqual({ startDate: undefined, endDate: undefined, sort: undefined });
  expect(periodOf({ since: '1d', sort: 'asc' }, NOW)).toMatchObject({ startDate: NOW - 86_400_000, sort: 'asc' });
});
